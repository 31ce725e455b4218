import { optionalNodeModule } from './node-module.js'

/** The part of a channel of Node's diagnostics_channel that publishers use. */
export interface DiagnosticsChannel {
  /** Whether anything receives messages: without subscribers, publishers need not create them. */
  readonly hasSubscribers: boolean
  /** Gives a message to every subscriber. */
  publish(message: unknown): void
}

interface Channels {
  channel(name: string): DiagnosticsChannel
}

const withoutSubscribers: DiagnosticsChannel = { hasSubscribers: false, publish: () => undefined }

/** Returns Node's diagnostics channel of this name; in a browser, a channel that never has subscribers. */
export function diagnosticsChannel(name: string): DiagnosticsChannel {
  const channels = optionalNodeModule('node:diagnostics_channel') as Channels | undefined
  return channels?.channel(name) ?? withoutSubscribers
}
