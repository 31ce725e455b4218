/** Enough to find the mistake, and a bound on memory for a host that repeats it forever. */
const MOST_LINES = 1000

/** Mistakes of the host, worded for a driver author. A test asserts that `lines` is empty. */
export class Diagnostics {
  readonly lines: string[] = []

  report(line: string): void {
    if (this.lines.length === MOST_LINES) this.lines.push(`further diagnostics are dropped after ${MOST_LINES}`)
    if (this.lines.length < MOST_LINES) this.lines.push(line)
  }
}

/** Formats an address or offset for messages. */
export function hex(value: number): string {
  return `0x${value.toString(16)}`
}
