import type { Section } from './command-line/session.js'

/** In the order of use. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Start',
    entries: [
      {
        name: 'doctor',
        usage: '[ADDRESS...] [options]',
        summary: 'check this machine: what works, what does not, and how to fix it',
        load: async () => (await import('./commands/doctor.js')).doctor,
      },
      {
        name: 'first-light',
        usage: '(--drive ADDRESS | --image FILE | --sim) [options]',
        summary: 'test a drive and a GPU step by step, and write a report to share',
        load: async () => (await import('./commands/first-light.js')).firstLight,
      },
      {
        name: 'list',
        usage: '[ADDRESS] [options]',
        summary: 'list NVMe drives and GPUs: users, bindings, links, peer-to-peer paths',
        load: async () => (await import('./commands/list.js')).list,
      },
      {
        name: 'demo',
        usage: '[options]',
        summary: 'run an end-to-end demo on a generated model and a simulated drive',
        load: async () => (await import('./commands/demo.js')).demo,
      },
    ],
  },
  {
    title: 'Models',
    entries: [
      {
        name: 'inspect',
        usage: 'MODEL [options]',
        summary: 'show layers and tensors of a model file',
        load: async () => (await import('./commands/inspect.js')).inspect,
      },
      {
        name: 'plan',
        usage: '[MODEL] [options]',
        summary: 'plan placement in GPU and host memory, and predict the time of a pass',
        load: async () => (await import('./commands/plan.js')).plan,
      },
      {
        name: 'pack',
        usage: 'MODEL (--image FILE | --drive ADDRESS) [options]',
        summary: 'write a model to a drive in a layout for streaming',
        load: async () => (await import('./commands/pack.js')).pack,
      },
      {
        name: 'load',
        usage: '[MODEL] [options]',
        summary: 'load a model into GPU or host memory; stream what does not fit',
        load: async () => (await import('./commands/load.js')).load,
      },
      {
        name: 'models',
        summary: 'manage the models on a drive',
        verbs: [
          {
            name: 'ls',
            usage: '(--image FILE | --drive ADDRESS) [options]',
            summary: 'list models on a drive and free space',
            load: async () => (await import('./commands/ls.js')).ls,
          },
          {
            name: 'verify',
            usage: '(--image FILE | --drive ADDRESS) [options]',
            summary: 'verify all checksums of an image on a drive',
            load: async () => (await import('./commands/verify.js')).verify,
          },
          {
            name: 'rm',
            usage: 'MODEL (--image FILE | --drive ADDRESS) [options]',
            summary: 'remove a model from a drive',
            load: async () => (await import('./commands/rm.js')).rm,
          },
        ],
      },
    ],
  },
  {
    title: 'Drives',
    entries: [
      {
        name: 'bind',
        usage: 'ADDRESS [options] [-- COMMAND...]',
        summary: 'bind a drive to user space, while a command runs or until unbind',
        load: async () => (await import('./commands/bind.js')).bind,
      },
      {
        name: 'unbind',
        usage: '[ADDRESS] [options]',
        summary: 'return drives to their previous driver',
        load: async () => (await import('./commands/unbind.js')).unbind,
      },
      {
        name: 'bench',
        summary: 'benchmark I/O paths to a drive',
        alone: {
          usage: '[VERB] [options]',
          load: async () => (await import('./commands/bench.js')).bench,
        },
        verbs: [
          {
            name: 'report',
            usage: 'RESULTS.json [options]',
            summary: 'render results as HTML, CSV or Markdown',
            load: async () => (await import('./commands/report.js')).report,
          },
          {
            name: 'p2p',
            usage: '[options]',
            summary: 'copy between GPUs, or test doorbell writes by a GPU',
            load: async () => (await import('./commands/p2p.js')).p2p,
          },
        ],
      },
      {
        name: 'nvme',
        summary: 'inspect a drive and its commands',
        verbs: [
          {
            name: 'identify',
            usage: '[options]',
            summary: 'show Identify data of the controller and its namespaces',
            load: async () => (await import('./commands/identify.js')).identify,
          },
          {
            name: 'smart',
            usage: '[options]',
            summary: "show the drive's SMART / Health log",
            load: async () => (await import('./commands/smart.js')).smart,
          },
          {
            name: 'log',
            usage: '[PAGE] [options]',
            summary: 'list log pages, or show one decoded',
            load: async () => (await import('./commands/log.js')).log,
          },
          {
            name: 'features',
            usage: '[FEATURE] [options]',
            summary: 'show features decoded',
            load: async () => (await import('./commands/features.js')).features,
          },
          {
            name: 'regs',
            usage: '[options]',
            summary: 'show controller registers decoded',
            load: async () => (await import('./commands/regs.js')).regs,
          },
          {
            name: 'read',
            usage: '[options]',
            summary: 'read blocks as a hex dump, to a file, or raw',
            load: async () => (await import('./commands/read.js')).read,
          },
          {
            name: 'write',
            usage: 'FILE (--lba N | --offset SIZE) [options]',
            summary: 'write a file to blocks of a drive',
            load: async () => (await import('./commands/write.js')).write,
          },
          {
            name: 'decode',
            usage: 'WHAT [HEX...] [options]',
            summary: 'decode queue entries, registers, Identify data and log pages',
            load: async () => (await import('./commands/decode.js')).decode,
          },
          {
            name: 'trace',
            usage: '[options] [--] VERB [arguments]',
            summary: 'run a verb and record its accesses to the drive',
            load: async () => (await import('./commands/trace.js')).trace,
          },
          {
            name: 'replay',
            usage: 'TRACE.jsonl [options]',
            summary: 'replay the commands of a trace and compare the results',
            load: async () => (await import('./commands/replay.js')).replay,
          },
        ],
      },
      {
        name: 'sim',
        usage: '[ACTION] [options] [-- COMMAND...]',
        summary: 'list simulated drives, or serve one over vfio-user',
        load: async () => (await import('./commands/sim.js')).sim,
      },
    ],
  },
  {
    title: 'Set-up',
    entries: [
      {
        name: 'driver',
        usage: '[ACTION] [WHAT] [options]',
        summary: 'inspect and patch the NVIDIA driver',
        load: async () => (await import('./commands/driver.js')).driver,
      },
      {
        name: 'completion',
        usage: '[SHELL]',
        summary: 'print a shell completion script',
        load: async () => (await import('./commands/completion.js')).completion,
      },
      {
        name: 'schema',
        usage: '[VERB] [options]',
        summary: "print the JSON Schema of a verb's --json output",
        load: async () => (await import('./commands/schema.js')).schema,
      },
    ],
  },
]
