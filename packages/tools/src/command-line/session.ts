import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

/** State of one run of the command. Verbs keep state here or in local variables, never in a module. */
export interface Session {
  /** Arguments after the program's name. */
  readonly argv: readonly string[]
  readonly io: Io
  /** Verbs of the program. */
  readonly sections: readonly Section[]
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal
  /** Exit code of a command with a result that still failed. */
  exitCode: number
}

/** Adds arguments, options, examples and the action to a command. */
export type ConfigureVerb = (command: Command, session: Session) => void

/** A verb. Its implementation is loaded when it is called. */
export interface Verb {
  readonly name: string
  /** Text after the name. */
  readonly usage: string
  /** One line: 'show Identify data of the controller and its namespaces'. */
  readonly summary: string
  readonly load: () => Promise<ConfigureVerb>
}

/** Verbs after a common first word: `gpunvme nvme read`. */
export interface VerbGroup {
  readonly name: string
  /** One line; the help appends the names of the verbs. */
  readonly summary: string
  /** Action of the group itself: `gpunvme bench --sim`. Undefined for a group that prints its help. */
  readonly alone?: Pick<Verb, 'usage' | 'load'>
  readonly verbs: readonly Verb[]
}

/** A section of the help. */
export interface Section {
  readonly title: string
  readonly entries: readonly (Verb | VerbGroup)[]
}
