import type { Diagnostic } from '@gpunvme/nvme-sim'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { describeCounters, describeDone, type Counters, type Sample } from './counters.js'

/**
 * Maximum number of reported mistakes of the host, and of reports of faults, so that a loop does not flood the output.
 */
const MAX_SHOWN = 20

/** Reports the activity of a server on stderr: clients, mistakes of the host and, on a terminal, counters. */
export class Narrator {
  private readonly output: Output
  private readonly isRedrawn: boolean
  private last: Sample
  private clients = 0
  private isConnected = false
  /** Counters when the current or next client connected. */
  private before: Counters
  private shown = 0
  private faultsTold = 0

  /** @param isRedrawn whether the terminal has a status line for the counters. */
  constructor(output: Output, first: Sample, isRedrawn: boolean) {
    this.output = output
    this.isRedrawn = isRedrawn
    this.last = first
    this.before = first.counters
  }

  /** @param diagnostics all so far. */
  update(sample: Sample, diagnostics: readonly Diagnostic[]): void {
    this.tellClients(sample.counters)
    this.tellFaults(sample.counters)
    this.tellMistakes(diagnostics)
    if (this.isRedrawn) this.output.setStatus(fitted(describeCounters(sample, this.last), this.output.noteColumns))
    this.last = sample
  }

  /** Removes the status line, and reports a client that is disconnected. */
  end(): void {
    if (this.isRedrawn) this.output.setStatus('')
    const { counters } = this.last
    if (!this.isConnected) return
    const left = `${plural(counters.queueDepth, 'command')} in flight`
    this.output.note(`Client ${this.clients} is disconnected with ${left}: ${describeDone(counters, this.before)}`)
  }

  /** Clients that disconnected between two polls are reported together: their shares are unknown. */
  private tellClients(counters: Counters): void {
    const { clients, connected } = counters
    const first = this.isConnected ? this.clients : this.clients + 1
    const last = connected ? clients - 1 : clients
    if (last >= first) {
      const who = first === last ? `Client ${first}` : `Clients ${first} to ${last}`
      const what = first === last && this.isConnected ? 'disconnected' : 'connected and disconnected'
      const more = connected ? `, including client ${clients}` : ''
      this.output.note(`${who} ${what}: ${describeDone(counters, this.before)}${more}`)
      this.before = counters
    }
    if (connected && clients > this.clients) this.output.note(`Client ${clients} connected`)
    this.clients = clients
    this.isConnected = connected
  }

  private tellFaults({ faultsInjected }: Counters): void {
    const fresh = faultsInjected - this.last.counters.faultsInjected
    if (fresh === 0 || this.faultsTold > MAX_SHOWN) return
    const isLast = this.faultsTold++ === MAX_SHOWN
    const count = fresh === faultsInjected ? String(fresh) : `${fresh} more, ${faultsInjected} in total`
    this.output.note(isLast ? 'Further faults are counted but not shown.' : `Faults injected: ${count}`)
  }

  private tellMistakes(diagnostics: readonly Diagnostic[]): void {
    if (this.shown === MAX_SHOWN) return
    const fresh = diagnostics.slice(this.shown, MAX_SHOWN)
    if (fresh.length > 0) this.output.note(fresh.map(({ text }) => `The host: ${printable(text)}`))
    this.shown += fresh.length
    if (this.shown === MAX_SHOWN) this.output.note('Further mistakes of the host are counted but not shown.')
  }
}

/** One column shorter, so that no terminal wraps the line. */
function fitted(text: string, columns: number): string {
  return text.slice(0, columns - 1)
}
