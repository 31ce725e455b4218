/** A name as long as GGUF allows is shown whole; longer ones are cut. */
const MAX_SHOWN = 80

/**
 * A name from a file, fit for a message: in quotes, cut when long, and with everything escaped that could move a
 * terminal's cursor, change its colours or reverse its text.
 */
export function quote(name: string): string {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name
  const escaped = JSON.stringify(shown)
  return escaped.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}
