const MAX_SHOWN = 200

/**
 * Makes a name from a file safe for a terminal: it cannot move the cursor, change colours or reverse text. Replacement
 * characters, which stand for bytes that are not UTF-8, are escaped too. `typedName` reads such a name.
 */
export function printable(name: string): string {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name
  return escaped(shown)
}

/**
 * Returns the lines of a message, safe for a terminal. Further lines of our messages are indented by two blanks; other
 * line breaks come from names and are escaped.
 */
export function printableLines(message: string): string[] {
  return message.split(/\n(?= {2})/).map(escaped)
}

/** Returns a message as one line, safe for a terminal. */
export function printableLine(message: string): string {
  return printableLines(message).join(' ')
}

function escaped(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/** Returns the name that a user copied from our output: `\\u{1b}` stands for a character that was escaped there. */
export function typedName(text: string): string {
  return text.replace(/\\u\{([0-9a-f]{1,5})\}/g, (_escape, digits: string) =>
    String.fromCodePoint(parseInt(digits, 16)),
  )
}
