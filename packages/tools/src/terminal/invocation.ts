import { delimiter, dirname, join, relative, sep } from 'node:path'
import type { Io } from './io.js'

/** How a user starts this program again: plain data, so that another process can print the same commands. */
export interface Invocation {
  /** Text before the verb, as a shell takes it: 'npx gpunvme'. */
  readonly program: string
  /** Text before a command that needs root, with a blank at its end; empty if this shell is root's. */
  readonly sudo: string
  /**
   * Options that name the drives of this run, which replace `--image FILE` and `--drive ADDRESS` in printed commands.
   */
  readonly drive?: readonly string[]
  /** Model file of this run, which replaces `MODEL` in printed commands. */
  readonly model?: string
}

/** Invocation of an installed program, for texts that are not tied to one run: messages of errors, results files. */
export const INSTALLED: Invocation = { program: 'gpunvme', sudo: '' }

/** Invocation on the machine whose files were read with `--root`: how this program is started there is unknown. */
export const ELSEWHERE: Invocation = { program: 'gpunvme', sudo: 'sudo ' }

/** Returns how the program of this run was started. @param argv arguments after the program's name. */
export function invocationOf(
  io: Pick<Io, 'env' | 'program' | 'cwd' | 'isRoot'>,
  argv: readonly string[] = [],
): Invocation {
  const { SUDO_USER: sudoUser = '' } = io.env
  // The next command is typed in the shell that called sudo, which is not root's. sudo replaces PATH, and npm's folders
  // are seldom on the new one.
  return {
    program: programOf(io),
    sudo: !io.isRoot || sudoUser !== '' ? 'sudo env "PATH=$PATH" ' : '',
    ...namedIn(argv),
  }
}

/** An option that names a drive whose data are kept. */
export const NAMES_DRIVE = /^--(?:drive|image|socket)(?:=|$)/
const SIMULATES = /^--(?:sim$|profile(?:=|$))/
const MODEL_FILE = /\.(?:gguf|safetensors|safetensors\.index\.json)$/i

/** Returns the drives and the model file that a command line names. */
function namedIn(argv: readonly string[]): Pick<Invocation, 'drive' | 'model'> {
  // What follows belongs to another command.
  const end = argv.indexOf('--')
  const words = end < 0 ? argv : argv.slice(0, end)
  const options = (pattern: RegExp) =>
    words.flatMap((word, at) =>
      !pattern.test(word) ? [] : word.includes('=') || word === '--sim' ? [word] : words.slice(at, at + 2),
    )
  const named = options(NAMES_DRIVE)
  const drive = named.length > 0 ? named : options(SIMULATES)
  const model = words.find(
    (word, at) =>
      MODEL_FILE.test(word) && !/^-|:\/\//.test(word) && !/^--(?:image|name|socket)$/.test(words[at - 1] ?? ''),
  )
  return { ...(drive.length > 0 && { drive }), ...(model !== undefined && { model }) }
}

function programOf({ env, program, cwd }: Pick<Io, 'env' | 'program' | 'cwd'>): string {
  const folders = (env['PATH'] ?? '').split(delimiter)
  const [project = ''] = program.split(`${sep}node_modules${sep}`)
  // npx keeps a package that no project has in a cache of its own, where the name of the command is not found again.
  if (program.includes(`${sep}_npx${sep}`)) return 'npx @gpunvme/tools'
  // `npx`, `npm exec` and scripts of package.json set the variable, and put the project's folder on PATH themselves.
  const isNpm = env['npm_command'] !== undefined
  if (isNpm && folders.includes(join(project, 'node_modules', '.bin'))) return 'npx gpunvme'
  if (folders.includes(dirname(program))) return 'gpunvme'
  const path = relative(cwd, program)
  const typed = path.startsWith('..') ? program : path
  if (program.endsWith('.js')) return shellLine(['node', typed])
  return shellLine([typed === program ? typed : `./${typed}`])
}

/** Returns words as one line that a shell splits into the same words. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
