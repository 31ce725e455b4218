import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns a shell's completions of a command line. */
export type Complete = (line: string) => string[]

/** A shell that loads our completion script. */
export interface Shell {
  readonly name: 'bash' | 'zsh' | 'fish'
  /** @param cwd folder in which the shell runs and the script is stored as `completion` */
  readonly completer: (cwd: string, script: string) => Complete
}

/** Returns a suffix for test titles: empty if the shell is installed. */
export function shellNote(name: Shell['name']): string {
  return spawnSync(name, ['--version']).error === undefined ? '' : ` (skipped: [shells] ${name} is not installed)`
}

function run(program: string, words: readonly string[], cwd: string): string[] {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd, encoding: 'utf8', timeout: 60_000 })
  if (status !== 0 || error !== undefined) throw new Error(`${program} failed: ${String(error ?? stderr)}`)
  return stdout.split('\n').filter((line) => line !== '')
}

/** Calls the completion function like readline, with line and cursor. The words are empty: the function must ignore them. */
const bash: Shell = {
  name: 'bash',
  completer(cwd, script) {
    writeFileSync(join(cwd, 'completion'), script)
    const call = `
      source ./completion
      COMP_LINE=$1 COMP_POINT=\${#1}
      [[ $(complete -p gpunvme) == 'complete -F _gpunvme gpunvme' ]] || exit 1
      _gpunvme gpunvme '' ''
      printf '%s\\n' "\${COMPREPLY[@]}"`
    return (line) => run('bash', ['--norc', '-c', call, 'bash', line], cwd)
  },
}

/** Presses Tab in a zsh on a pseudo-terminal, since zsh completes only interactively, and records what it adds. */
const zsh: Shell = {
  name: 'zsh',
  completer(cwd, script) {
    writeFileSync(join(cwd, 'completion'), script)
    writeFileSync(
      join(cwd, 'setup'),
      `PS1= RPS1=
      autoload -Uz compinit && compinit -C -d ./zcompdump
      source ./completion
      compadd() {
        local -a hits
        if [[ " $* " == *' '-[a-zA-Z12]#[OAD]' '* ]]; then builtin compadd "$@"; return; fi
        builtin compadd -O hits "$@"
        (( $#hits )) && print -rl -- $hits >> added
        builtin compadd "$@"
      }
      typed() { print > done }
      zle -N typed
      bindkey '^X' typed
      print > ready`,
    )
    const drive = `
      zmodload zsh/zpty
      rm -f added done ready
      wait-for() {
        integer tries=0
        while [[ ! -e $1 ]] && (( tries++ < 1000 )); do sleep 0.02; zpty -r -t inner seen; done
        [[ -e $1 ]]
      }
      zpty inner zsh -f -i
      zpty -w inner 'setopt extendedglob; source ./setup'
      wait-for ready || { print -u2 'zsh did not start'; exit 1 }
      zpty -n -w inner "$1"$'\\t'$'\\x18'
      wait-for done || { print -u2 'zsh did not complete'; exit 1 }
      zpty -d inner
      [[ -e added ]] && cat added
      exit 0`
    return (line) => run('zsh', ['-f', '-c', drive, 'zsh', line], cwd)
  },
}

const fish: Shell = {
  name: 'fish',
  completer(cwd, script) {
    writeFileSync(join(cwd, 'completion'), script)
    return (line) =>
      run('fish', ['--no-config', '-c', 'source completion; complete -C $argv[1]', line], cwd)
        // Text after a tab is a description.
        .map((shown) => shown.split('\t')[0]!)
  },
}

export const SHELLS: readonly Shell[] = [bash, zsh, fish]
