import { columnsOf, type Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { commandsOf, describeCounters, type Counters, type Sample } from './counters.js'

/** Mistakes of the host that are shown as they come. One that is made in a loop would leave nothing else to be read. */
const MOST_SHOWN = 20

/** Tells on stderr what goes on at a server: who comes and goes, what the host does wrong, and on a terminal how much. */
export class Narrator {
  private readonly output: Output
  private readonly isRedrawn: boolean
  private last: Sample
  private clients = 0
  private isConnected = false
  private commandsBefore = 0
  private shown = 0

  /** @param isRedrawn whether there is a last line on the terminal for the counters. */
  constructor(output: Output, first: Sample, isRedrawn: boolean) {
    this.output = output
    this.isRedrawn = isRedrawn
    this.last = first
  }

  /** @param diagnostics all lines so far. */
  update(sample: Sample, diagnostics: readonly string[]): void {
    this.tellClients(sample.counters)
    this.tellMistakes(diagnostics)
    if (this.isRedrawn) this.output.setStatus(fitted(describeCounters(sample, this.last)))
    this.last = sample
  }

  /** Takes the counters off the terminal. */
  end(): void {
    if (this.isRedrawn) this.output.setStatus('')
  }

  private tellClients({ clients, connected, ...counters }: Counters): void {
    const commands = commandsOf(counters)
    if (this.isConnected && (!connected || clients > this.clients)) {
      this.output.note(`Client ${this.clients} has gone: ${commands - this.commandsBefore} commands`)
      this.isConnected = false
    }
    if (clients > this.clients) {
      const passed = clients - this.clients - (connected ? 1 : 0)
      if (passed > 0)
        this.output.note(passed === 1 ? `Client ${this.clients + 1} came and went` : `${passed} clients came and went`)
      if (connected) this.output.note(`Client ${clients} has connected`)
      this.commandsBefore = commandsOf(this.last.counters)
    }
    this.clients = clients
    this.isConnected = connected
  }

  private tellMistakes(diagnostics: readonly string[]): void {
    if (this.shown === MOST_SHOWN) return
    const fresh = diagnostics.slice(this.shown, MOST_SHOWN)
    if (fresh.length > 0) this.output.note(...fresh.map((line) => `The host: ${printable(line)}`))
    this.shown += fresh.length
    if (this.shown === MOST_SHOWN) this.output.note('More mistakes of the host are counted, and not shown any more.')
  }
}

/** One column short, so that no terminal wraps the line and leaves pieces of it behind. */
function fitted(text: string): string {
  return text.slice(0, columnsOf(process.stderr) - 1)
}
