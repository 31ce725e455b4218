/** Edits in a word that still count as a slip. */
const MAX_EDITS = 3

/** Returns the candidates that a word may have been meant for: those it abbreviates, otherwise those with the fewest edits. */
export function nearest(word: string, candidates: readonly string[]): string[] {
  const abbreviated = candidates.filter((candidate) => candidate.startsWith(word))
  if (word.length >= 2 && abbreviated.length > 0) return abbreviated
  const slips = candidates
    .filter((candidate) => Math.abs(candidate.length - word.length) <= MAX_EDITS)
    .map((candidate) => ({ candidate, edits: countEdits(word, candidate) }))
    .filter(({ candidate, edits }) => edits <= MAX_EDITS && edits < 0.6 * Math.max(word.length, candidate.length))
  const fewest = slips.reduce((min, { edits }) => Math.min(min, edits), MAX_EDITS)
  return slips.filter(({ edits }) => edits === fewest).map(({ candidate }) => candidate)
}

/** Returns the number of insertions, deletions, substitutions and swaps of neighbours between two words. */
function countEdits(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const substituted = rows[i - 1]![j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwapped ? rows[i - 2]![j - 2]! + 1 : Infinity
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, substituted, swapped)
    }
    rows.push(row)
  }
  return rows[from.length]![to.length]!
}
