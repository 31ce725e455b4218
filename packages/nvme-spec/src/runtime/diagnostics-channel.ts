import { optionalNodeModule } from './node-module.js'

/** The part of a channel of Node's diagnostics_channel that publishers need. */
export interface DiagnosticsChannel {
  /** True if there are subscribers; otherwise publishers need not create messages. */
  readonly hasSubscribers: boolean
  /** Passes a message to every subscriber. */
  publish(message: unknown): void
}

interface Channels {
  channel(name: string): DiagnosticsChannel
}

const withoutSubscribers: DiagnosticsChannel = { hasSubscribers: false, publish: () => undefined }

/** Returns Node's diagnostics channel of this name; in a browser, a channel without subscribers. */
export function diagnosticsChannel(name: string): DiagnosticsChannel {
  const channels = optionalNodeModule('node:diagnostics_channel') as Channels | undefined
  return channels?.channel(name) ?? withoutSubscribers
}
