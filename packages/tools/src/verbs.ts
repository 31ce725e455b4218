import type { Command } from 'commander'
import type { Session } from './program.js'

/** Gives a command its arguments, options, examples and action. */
export type ConfigureVerb = (command: Command, session: Session) => void

/** A verb as the list of them shows it. What it is made of is loaded when it is called. */
export interface Verb {
  readonly name: string
  /** What follows the name. */
  readonly usage: string
  /** One line: 'show what the controller and its namespaces say they are'. */
  readonly summary: string
  readonly load: () => Promise<ConfigureVerb>
}

export interface VerbGroup {
  readonly title: string
  readonly verbs: readonly Verb[]
}

/** In the order in which they are of use. */
export const VERB_GROUPS: readonly VerbGroup[] = [
  {
    title: 'A first look',
    verbs: [
      {
        name: 'doctor',
        usage: '[ADDRESS...] [options]',
        summary: 'say what works on this machine, or why it does not and what to do',
        load: async () => (await import('./commands/doctor.js')).doctor,
      },
      {
        name: 'topology',
        usage: '[options]',
        summary: 'show how GPUs and SSDs hang on this machine, and what may pass',
        load: async () => (await import('./commands/topology.js')).topology,
      },
      {
        name: 'list',
        usage: '[options]',
        summary: 'list NVMe drives and GPUs, who uses them, and what to call next',
        load: async () => (await import('./commands/list.js')).list,
      },
      {
        name: 'demo',
        usage: '[options]',
        summary: 'the whole way on a model of its own: make, pack, stream, compare',
        load: async () => (await import('./commands/demo.js')).demo,
      },
    ],
  },
  {
    title: 'Models',
    verbs: [
      {
        name: 'inspect',
        usage: 'MODEL [options]',
        summary: "show a model file's layers and tensors",
        load: async () => (await import('./commands/inspect.js')).inspect,
      },
      {
        name: 'plan',
        usage: '[MODEL] --vram SIZE [options]',
        summary: 'plan what stays in GPU and host memory, and what a pass takes',
        load: async () => (await import('./commands/plan.js')).plan,
      },
      {
        name: 'pack',
        usage: 'MODEL --image FILE [options]',
        summary: 'write a model to a drive, laid out for streaming',
        load: async () => (await import('./commands/pack.js')).pack,
      },
      {
        name: 'ls',
        usage: '--image FILE [options]',
        summary: 'list the models on a drive, and the room that is left',
        load: async () => (await import('./commands/ls.js')).ls,
      },
      {
        name: 'load',
        usage: '[MODEL] [options]',
        summary: 'load a model into GPU or host memory, and stream what does not fit',
        load: async () => (await import('./commands/load.js')).load,
      },
      {
        name: 'verify',
        usage: '--image FILE [options]',
        summary: 'read all of a drive image and compare it with its checksums',
        load: async () => (await import('./commands/verify.js')).verify,
      },
      {
        name: 'rm',
        usage: 'MODEL --image FILE [options]',
        summary: 'take a model off a drive; its room may be used again',
        load: async () => (await import('./commands/rm.js')).rm,
      },
    ],
  },
  {
    title: 'Drives',
    verbs: [
      {
        name: 'status',
        usage: '[ADDRESS] [options]',
        summary: 'show which driver has each drive, who bound it, and what opens it',
        load: async () => (await import('./commands/status.js')).status,
      },
      {
        name: 'bind',
        usage: 'ADDRESS [options] [-- COMMAND...]',
        summary: 'take a drive from Linux, for as long as a command runs or until unbind',
        load: async () => (await import('./commands/bind.js')).bind,
      },
      {
        name: 'unbind',
        usage: '[ADDRESS] [options]',
        summary: 'give drives back to the driver that had them',
        load: async () => (await import('./commands/unbind.js')).unbind,
      },
      {
        name: 'identify',
        usage: '[options]',
        summary: 'show what the controller and its namespaces say they are',
        load: async () => (await import('./commands/identify.js')).identify,
      },
      {
        name: 'smart',
        usage: '[options]',
        summary: "show the drive's health: warnings first, then its numbers",
        load: async () => (await import('./commands/smart.js')).smart,
      },
      {
        name: 'log',
        usage: '[PAGE] [options]',
        summary: 'list the log pages of a drive, or show one, decoded',
        load: async () => (await import('./commands/log.js')).log,
      },
      {
        name: 'features',
        usage: '[FEATURE] [options]',
        summary: 'show the features of a drive, decoded',
        load: async () => (await import('./commands/features.js')).features,
      },
      {
        name: 'regs',
        usage: '[options]',
        summary: "show the controller's registers, decoded",
        load: async () => (await import('./commands/regs.js')).regs,
      },
      {
        name: 'read',
        usage: '[options]',
        summary: 'read blocks of a drive: to a file, as a hex dump, or raw',
        load: async () => (await import('./commands/read.js')).read,
      },
      {
        name: 'write',
        usage: 'FILE --lba N [options]',
        summary: 'write a file to blocks of a drive, guarded',
        load: async () => (await import('./commands/write.js')).write,
      },
      {
        name: 'sim',
        usage: '[ACTION] [options] [-- COMMAND...]',
        summary: 'list simulated drives, or serve one to QEMU and other programs',
        load: async () => (await import('./commands/sim.js')).sim,
      },
    ],
  },
  {
    title: 'Measuring',
    verbs: [
      {
        name: 'bench',
        usage: '[options]',
        summary: 'measure how fast a drive is, by whom, and compared with what',
        load: async () => (await import('./commands/bench.js')).bench,
      },
      {
        name: 'report',
        usage: 'RESULTS.json [options]',
        summary: 'make a page, a table or a summary of what bench has measured',
        load: async () => (await import('./commands/report.js')).report,
      },
      {
        name: 'p2p',
        usage: '[options]',
        summary: 'what GPUs and SSDs can send each other: judged, copied, probed',
        load: async () => (await import('./commands/p2p.js')).p2p,
      },
    ],
  },
  {
    title: 'Looking closer',
    verbs: [
      {
        name: 'trace',
        usage: '[options] [--] VERB [arguments]',
        summary: 'run a verb and write down all that it does with the drive',
        load: async () => (await import('./commands/trace.js')).trace,
      },
      {
        name: 'replay',
        usage: 'TRACE.jsonl [options]',
        summary: "send a trace's commands to a drive again, and compare",
        load: async () => (await import('./commands/replay.js')).replay,
      },
      {
        name: 'decode',
        usage: 'WHAT [HEX...] [options]',
        summary: 'explain bytes: queue entries, registers, Identify data, log pages',
        load: async () => (await import('./commands/decode.js')).decode,
      },
    ],
  },
  {
    title: 'Set-up',
    verbs: [
      {
        name: 'driver',
        usage: '[ACTION] [WHAT] [options]',
        summary: "show NVIDIA's driver, what ails it, and mend it",
        load: async () => (await import('./commands/driver.js')).driver,
      },
      {
        name: 'completion',
        usage: '[SHELL]',
        summary: 'print a script that completes command lines in your shell',
        load: async () => (await import('./commands/completion.js')).completion,
      },
    ],
  },
]

export const VERBS: readonly Verb[] = VERB_GROUPS.flatMap(({ verbs }) => verbs)
