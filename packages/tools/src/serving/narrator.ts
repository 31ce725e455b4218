import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { describeCounters, describeDone, type Counters, type Sample } from './counters.js'

/** Mistakes of the host, and looks at faults, that are told. What comes in a loop would leave nothing else to be read. */
const MOST_SHOWN = 20

/** Tells on stderr what goes on at a server: who comes and goes, what the host does wrong, and on a terminal how much. */
export class Narrator {
  private readonly output: Output
  private readonly isRedrawn: boolean
  private last: Sample
  private clients = 0
  private isConnected = false
  /** As they stood when the client that is connected, or the next one, came. */
  private before: Counters
  private shown = 0
  private faultsTold = 0

  /** @param isRedrawn whether there is a last line on the terminal for the counters. */
  constructor(output: Output, first: Sample, isRedrawn: boolean) {
    this.output = output
    this.isRedrawn = isRedrawn
    this.last = first
    this.before = first.counters
  }

  /** @param diagnostics all lines so far. */
  update(sample: Sample, diagnostics: readonly string[]): void {
    this.tellClients(sample.counters)
    this.tellFaults(sample.counters)
    this.tellMistakes(diagnostics)
    if (this.isRedrawn) this.output.setStatus(fitted(describeCounters(sample, this.last), this.output.noteColumns))
    this.last = sample
  }

  /** Takes the counters off the terminal, and tells who is sent away. */
  end(): void {
    if (this.isRedrawn) this.output.setStatus('')
    const { counters } = this.last
    if (!this.isConnected) return
    const left = `${plural(counters.queueDepth, 'command')} under way`
    this.output.note(`Client ${this.clients} is cut off with ${left}: ${describeDone(counters, this.before)}`)
  }

  /** Clients that went between two looks are told together, as nobody knows which of them did what. */
  private tellClients(counters: Counters): void {
    const { clients, connected } = counters
    const first = this.isConnected ? this.clients : this.clients + 1
    const last = connected ? clients - 1 : clients
    if (last >= first) {
      const who = first === last ? `Client ${first}` : `Clients ${first} to ${last}`
      const what = first === last && this.isConnected ? 'has gone' : 'came and went'
      const more = connected ? `, with what client ${clients} has sent` : ''
      this.output.note(`${who} ${what}: ${describeDone(counters, this.before)}${more}`)
      this.before = counters
    }
    if (connected && clients > this.clients) this.output.note(`Client ${clients} has connected`)
    this.clients = clients
    this.isConnected = connected
  }

  private tellFaults({ faultsStruck }: Counters): void {
    const fresh = faultsStruck - this.last.counters.faultsStruck
    if (fresh === 0 || this.faultsTold > MOST_SHOWN) return
    const isLast = this.faultsTold++ === MOST_SHOWN
    this.output.note(
      isLast
        ? 'More faults are counted, and not shown any more.'
        : `The fault plan has struck: ${fresh} more, ${faultsStruck} in all`,
    )
  }

  private tellMistakes(diagnostics: readonly string[]): void {
    if (this.shown === MOST_SHOWN) return
    const fresh = diagnostics.slice(this.shown, MOST_SHOWN)
    if (fresh.length > 0) this.output.note(fresh.map((line) => `The host: ${printable(line)}`))
    this.shown += fresh.length
    if (this.shown === MOST_SHOWN) this.output.note('More mistakes of the host are counted, and not shown any more.')
  }
}

/** One column short, so that no terminal wraps the line and leaves pieces of it behind. */
function fitted(text: string, columns: number): string {
  return text.slice(0, columns - 1)
}
