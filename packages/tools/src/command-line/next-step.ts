import { ELSEWHERE, INSTALLED, type Invocation, NAMES_DRIVE, shellLine } from '../terminal/invocation.js'

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
  /** Whether the command is for the copied machine, not for this one. */
  readonly isElsewhere?: boolean
}

/** Text with commands of this program. */
export interface Phrase {
  readonly words: readonly (string | CommandStep)[]
  /** Whether the text is for the copied machine. Its commands are marked on their own. */
  readonly isElsewhere?: boolean
}

/** One action: advice in words, or a command. */
export type Action = string | CommandStep | Phrase

/** The next step: an action, or alternatives, the best one first. */
export type NextStep = Action | readonly Action[]

/** Returns a next step as text, with commands as the user of this invocation must type them. */
export function renderStep(step: NextStep, invocation: Invocation = INSTALLED): string {
  const alternatives = isList(step) ? step : [step]
  return alternatives.map((each) => renderOne(each, invocation)).join('; or ')
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(step: NextStep): step is readonly Action[] {
  return Array.isArray(step)
}

function renderOne(action: Action, invocation: Invocation): string {
  if (typeof action === 'string') return action
  if ('words' in action) {
    const words = action.words.map((part) => (typeof part === 'string' ? part : commandLine(part, invocation)))
    return `${action.isElsewhere === true ? THERE : ''}${words.join('')}`
  }
  const { first, note } = action
  const before = first === undefined ? '' : `${renderOne(first, invocation)}, then `
  return `${before}${typed(action, invocation)}${note === undefined ? '' : `, ${note}`}`
}

/** Precedes actions for the copied machine. */
const THERE = 'on that machine: '

/** Returns a command without notes, as the user of this invocation must type it. */
export function typed(step: CommandStep, invocation: Invocation): string {
  return `${step.isElsewhere === true ? THERE : ''}${commandLine(step, invocation)}`
}

function commandLine({ command, asRoot = needsRoot(command), isElsewhere }: CommandStep, invocation: Invocation) {
  const { program, sudo, ...named } = isElsewhere === true ? ELSEWHERE : invocation
  return `${asRoot ? sudo : ''}${program} ${shellLine(filled(command, named))}`
}

/** Replaces `--image FILE`, `--drive ADDRESS` and `MODEL` by the drives and the model of this run. */
function filled(command: readonly string[], { drive = [], model }: Pick<Invocation, 'drive' | 'model'>): string[] {
  const words = command.map((word) => (word === 'MODEL' ? (model ?? word) : word))
  const at = words.findIndex((word, index) =>
    ['--image FILE', '--drive ADDRESS'].includes(`${word} ${words[index + 1]}`),
  )
  // The data of a simulated drive in memory are lost for another command.
  const isKept = drive.some((word) => NAMES_DRIVE.test(word))
  const isReplaced = at >= 0 && (isKept || (words[at] === '--drive' && drive.length > 0))
  return isReplaced ? [...words.slice(0, at), ...drive, ...words.slice(at + 2)] : words
}

/** Returns whether a command changes drivers of this machine, which `requireRoot` rejects for other users. */
function needsRoot([verb = '', ...words]: readonly string[]): boolean {
  if (words.includes('--dry-run') || words.includes('--root')) return false
  if (verb === 'driver') return words[0] === 'apply' || words[0] === 'revert'
  return verb === 'bind' || verb === 'unbind' || (verb === 'bench' && words.includes('--hand-over'))
}
