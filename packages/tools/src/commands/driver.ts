import { Argument, InvalidArgumentError, Option } from 'commander'
import { requireRoot } from '../command-line/advised-command.js'
import { renderStep, type Action } from '../command-line/next-step.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { checkRoot, Root } from '../machine/index.js'
import { adviseDriver } from '../nvidia/advice.js'
import { changeDriver, CHANGES, revertDriver, type ChangeRequest } from '../nvidia/change-driver.js'
import { describeChange, stepsAfter, UNTESTED } from '../nvidia/describe-change.js'
import { describeAdvice, describeDriver } from '../nvidia/describe-driver.js'
import { readNvidia } from '../nvidia/read-driver.js'
import { driverJson } from '../nvidia/driver-json.js'
import { GOAL_SUMMARIES, GOALS, type Goal } from '../nvidia/wanted-options.js'
import type { OutputOptions } from '../terminal/output.js'

const ACTIONS = ['plan', 'apply', 'revert'] as const

interface Flags extends OutputOptions {
  readonly root: string
  readonly source?: string
  readonly form: 'walk' | 'guarded'
  readonly set: readonly Goal[]
  readonly dryRun?: boolean
  readonly experimental?: boolean
  readonly yes?: boolean
}

const ABOUT = `
Without an action: prints the NVIDIA modules in memory, on disk and in the
initramfs, how they look up register pages, sources and DKMS trees, options, and
contradictions between them. Read-only.

plan recommends steps, the best first; usually that is the open flavour of the
driver. Nothing is downloaded or built; apply prints the steps to build.

apply is experimental and needs --experimental: no module changed this way has
been loaded yet. --dry-run shows the change without it; revert undoes it.

apply and revert take one of
  pfn-lookup  the proprietary module cannot look up register pages on kernels
              from 6.10, so CUDA cannot register them. Patches one source file
              (in the DKMS tree in /usr/src, or in --source).
  options     writes /etc/modprobe.d/zz-gpunvme-nvidia.conf. Goals of --set:
${GOALS.map((goal) => `                ${goal.padEnd(13)} ${GOAL_SUMMARIES[goal].replace(/ \(.*\)$/, '')}`).join('\n')}
              Keys are those of the installed version; goals of an earlier --set
              are replaced.
  bar1-p2p    peer-to-peer between Turing to Ada GPUs through BAR1: needs
              --source with the complete source of 580 to 595, and after the
              build options --set bar1-p2p.

Only sources that match a known release are patched. Original files are kept in
DIR/.gpunvme for --source, otherwise in /var/lib/gpunvme/driver; revert restores
them unless they were modified since. modinfo nvidia shows gpunvme for a module
built from a patched tree. An upgrade of the driver package installs a new tree
without the patch.

On a machine with NVIDIA's driver, as root:
  # gpunvme driver apply options --set peer-mapping,static-bar1 --dry-run
  # gpunvme driver apply pfn-lookup --experimental
  # gpunvme driver revert pfn-lookup`

export const driver = verb({
  options(command) {
    command
      .addArgument(new Argument('[action]', 'action (default: show the state)').choices(ACTIONS))
      .addArgument(new Argument('[what]', 'the change to apply or revert').choices(CHANGES))
      .option('--root <dir>', 'folder with proc/, sys/, lib/, usr/src/ and etc/', '/')
      .option('--source <dir>', 'a source tree of the driver, in place of the one installed')
      .addOption(
        new Option('--form <form>', 'with pfn-lookup: page tables, or vm_pgoff inside a BAR')
          .choices(['walk', 'guarded'])
          .default('walk'),
      )
      .addOption(
        new Option('--set <goals>', `with options: ${GOALS.join(', ')}; separated by commas`)
          .argParser(parseGoals)
          .default([] as Goal[], 'none'),
      )
      .option('--dry-run', 'print the changes as a diff, without writing')
      .option('--experimental', 'with apply: write the changes, which are untested')
      .option('--yes', 'do not ask before writing')
  },
  about: ABOUT,
  examples: ['gpunvme driver', 'gpunvme driver plan', 'gpunvme driver --json'],
  run,
})

async function run(
  action: (typeof ACTIONS)[number] | undefined,
  what: ChangeRequest['kind'] | undefined,
  flags: Flags,
  { output, session }: Context,
): Promise<void> {
  const { signal } = session
  check(action, what, flags)
  if (action === 'apply' && flags.dryRun !== true && flags.experimental !== true)
    throw new ExperimentalError(session.argv)
  await checkRoot(flags.root)
  const texts = (steps: readonly Action[]) => steps.map((step) => renderStep(step, output.invocation))
  const state = await readNvidia(flags.root)
  signal.throwIfAborted()
  if (action === undefined) {
    output.print(describeDriver(state))
    output.object('gpunvme.driver/1', driverJson(flags.root, state))
    return
  }
  if (what === undefined) {
    const advice = adviseDriver(state, flags.root)
    output.print(describeAdvice(advice, output.invocation))
    output.object('gpunvme.driver-plan/1', {
      root: flags.root,
      advice: advice.map((each) => ({ ...each, steps: texts(each.steps) })),
    })
    return
  }
  const request: ChangeRequest = {
    kind: what,
    form: flags.form,
    goals: flags.set,
    source: flags.source,
    isDryRun: action === 'plan' || flags.dryRun === true,
    yes: flags.yes === true,
  }
  if (!request.isDryRun && flags.source === undefined) requireRoot(flags.root, session, "change the driver's files")
  const change = action === 'revert' ? revertDriver : changeDriver
  const result = await change(new Root(flags.root), state, request, { output, signal })
  const steps = stepsAfter(result, what, state, flags.root)
  output.print(describeChange(result, what, steps, output.invocation))
  output.object('gpunvme.driver-change/1', {
    root: flags.root,
    kind: what,
    form: flags.form,
    goals: flags.set,
    ...result,
    steps: texts(steps),
  })
}

function check(action: string | undefined, what: string | undefined, { set, source }: Flags): void {
  if ((action === 'apply' || action === 'revert') && what === undefined)
    throw new UsageError(`driver ${action} requires a change`, {
      next: { command: ['driver', action, CHANGES[0]], note: `or ${CHANGES.slice(1).join(', ')}` },
    })
  if (what === undefined && source !== undefined)
    throw new UsageError('--source requires a change', {
      next: { command: ['driver', 'plan', 'pfn-lookup', '--source', source] },
    })
  if (what === 'options' && action !== 'revert' && set.length === 0)
    throw new UsageError(`driver ${action} options requires --set`, {
      next: `use --set with one or more of ${GOALS.join(', ')}`,
    })
  if (what !== 'options' && set.length > 0)
    throw new UsageError('--set applies only to options', {
      next: { command: ['driver', 'plan', 'options', '--set', set.join(',')] },
    })
  if (what === 'options' && source !== undefined)
    throw new UsageError('options apply to the machine, not to a source tree', { next: 'omit --source' })
  if (what === 'bar1-p2p' && source === undefined)
    throw new UsageError('bar1-p2p requires a source tree', {
      next: 'use --source DIR with a clone of github.com/NVIDIA/open-gpu-kernel-modules of the installed version',
    })
}

function parseGoals(text: string): Goal[] {
  return text.split(',').map((word) => {
    const goal = GOALS.find((each) => each === word.trim())
    if (goal === undefined) throw new InvalidArgumentError(`Expected goals from ${GOALS.join(', ')}.`)
    return goal
  })
}

/** Error of apply without --experimental. It changed nothing. */
class ExperimentalError extends UsageError {
  constructor(argv: readonly string[]) {
    super(`driver apply is experimental: ${UNTESTED}`, {
      next: [
        { command: [...argv, '--dry-run'], note: 'which only prints the change' },
        'add --experimental to write it',
      ],
    })
  }
}
