import { ELSEWHERE, INSTALLED, type Invocation } from './invocation.js'
import { shellLine } from './shell-line.js'

/** A command of this program as a next step. */
export interface CommandStep {
  /** Words after the program's name. */
  readonly command: readonly string[]
  /** What precedes the command: 'end what is listed'. */
  readonly first?: string | CommandStep
  /** What the command does, or when it applies: 'which shows the drives'. */
  readonly note?: string
  /** Whether the command needs root; by default, `needsRoot` decides by its words. */
  readonly asRoot?: boolean
  /** Whether the command is for the machine whose files were read, and not for this one. */
  readonly isElsewhere?: boolean
}

type Alternative = string | CommandStep

/** What to do next: advice in words, a command, or several alternatives, the best one first. */
export type NextStep = Alternative | readonly Alternative[]

/** Returns a next step as text, its commands as the user of this invocation has to type them. */
export function renderStep(step: NextStep, invocation: Invocation = INSTALLED): string {
  const alternatives = isList(step) ? step : [step]
  return alternatives.map((each) => renderOne(each, invocation)).join('; or ')
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(step: NextStep): step is readonly Alternative[] {
  return Array.isArray(step)
}

function renderOne(step: Alternative, invocation: Invocation): string {
  if (typeof step === 'string') return step
  const { first, note } = step
  const before = first === undefined ? '' : `${renderOne(first, invocation)}, then `
  return `${before}${typed(step, invocation)}${note === undefined ? '' : `, ${note}`}`
}

/** Returns a command without its notes, as the user of this invocation has to type it. */
export function typed(step: CommandStep, invocation: Invocation): string {
  const { command, asRoot = needsRoot(command), isElsewhere = false } = step
  const { program, sudo } = isElsewhere ? ELSEWHERE : invocation
  return `${isElsewhere ? 'on that machine: ' : ''}${asRoot ? sudo : ''}${program} ${shellLine(command)}`
}

/** Whether a command changes drivers of this machine, which `requireRoot` refuses to other users. */
function needsRoot([verb = '', ...words]: readonly string[]): boolean {
  if (words.includes('--dry-run') || words.includes('--root')) return false
  if (verb === 'driver') return words[0] === 'apply' || words[0] === 'revert'
  return verb === 'bind' || verb === 'unbind' || (verb === 'bench' && words.includes('--hand-over'))
}
