/**
 * Differences between Node and a browser. Packages use Node's modules through this entry and never import them on the
 * path of their main entry, so that a browser bundle contains no unresolvable import.
 * @module
 */
export { diagnosticsChannel, type DiagnosticsChannel } from './diagnostics-channel.js'
export { nextTurn } from './next-turn.js'
export { nodeModule, NodeRequiredError, optionalNodeModule } from './node-module.js'
