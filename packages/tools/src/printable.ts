const MAX_SHOWN = 200

/** A name from a file, fit for a terminal: nothing in it can move the cursor, change colours or reverse text. */
export function printable(name: string): string {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name
  return shown.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
