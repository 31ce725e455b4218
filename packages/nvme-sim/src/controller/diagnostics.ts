/** Enough to find the mistake; a host that repeats it forever shall not fill the memory. */
const MOST_LINES = 1000

/** What the host did wrong, in a driver author's words. A test asserts that `lines` is empty. */
export class Diagnostics {
  readonly lines: string[] = []

  report(line: string): void {
    if (this.lines.length === MOST_LINES) this.lines.push(`further diagnostics are left out after ${MOST_LINES}`)
    if (this.lines.length < MOST_LINES) this.lines.push(line)
  }
}

/** An address or offset as the messages print it. */
export function hex(value: number): string {
  return `0x${value.toString(16)}`
}
