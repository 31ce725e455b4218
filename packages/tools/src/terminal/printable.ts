const MAX_SHOWN = 200

/** A name from a file, fit for a terminal: nothing in it can move the cursor, change colours or reverse text. */
export function printable(name: string): string {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name
  return escaped(shown)
}

/**
 * The lines of a message, fit for a terminal. The lines of ours that follow the first are indented by two blanks; a
 * line break before anything else came with a name, and is shown as one.
 */
export function printableLines(message: string): string[] {
  return message.split(/\n(?= {2})/).map(escaped)
}

function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
