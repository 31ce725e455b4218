/** Returns a count with its noun: '1 command', '2 commands'. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
