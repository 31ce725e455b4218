/** Long enough for any GGUF name; longer names are cut. */
const MAX_SHOWN = 80

/**
 * Quotes a name from a file for a message: long names are cut, and characters that could move a terminal's cursor,
 * change its colours or reverse its text are escaped.
 */
export function quote(name: string): string {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name
  const escaped = JSON.stringify(shown)
  return escaped.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}
