import { Argument } from 'commander'
import { bashCompletion } from '../completion/bash.js'
import { fishCompletion } from '../completion/fish.js'
import { completionTree, type CompletedNode } from '../completion/tree.js'
import { zshCompletion } from '../completion/zsh.js'
import { verb, type Context } from '../command-line/verb.js'
import type { OutputOptions } from '../terminal/output.js'

const SCRIPTS: Readonly<Record<string, (nodes: readonly CompletedNode[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

const PLACES = [
  'bash: gpunvme completion bash > FOLDER/gpunvme',
  '      with FOLDER ~/.local/share/bash-completion/completions;',
  '      or in ~/.bashrc: source <(gpunvme completion bash)',
  'zsh:  gpunvme completion zsh > FOLDER/_gpunvme',
  '      with FOLDER one of $fpath; or in ~/.zshrc, after compinit:',
  '      source <(gpunvme completion zsh)',
  'fish: gpunvme completion fish > ~/.config/fish/completions/gpunvme.fish',
]

export const completion = verb({
  options(command) {
    command.addArgument(new Argument('[shell]', 'shell to print a script for').choices(Object.keys(SCRIPTS)))
  },
  about: `
Prints a script that completes verbs, options, their values, files, and the
addresses of the NVMe drives of this machine; without a SHELL, where such a
script belongs. It changes nothing by itself. Print it again after an update.

${PLACES.join('\n')}`,
  examples: ['gpunvme completion', 'gpunvme completion bash', 'gpunvme completion --json'],
  run,
})

async function run(shell: string | undefined, _flags: OutputOptions, { output, session }: Context): Promise<void> {
  if (shell === undefined) {
    output.print(
      'To enable completion when your shell starts:',
      '',
      PLACES.map((line) => `  ${line}`),
    )
    output.object('gpunvme.completion/1', { shells: Object.keys(SCRIPTS) })
    return
  }
  const script = SCRIPTS[shell]!(await completionTree(session))
  output.verbatim(script.trimEnd())
  output.object('gpunvme.completion/1', { shell, script })
}
