import { beforeAll, describe, expect, test } from 'vitest'
import { expectKernel, mistakes, Steps } from './vfio-user/ended.js'
import { FAULT_DRIVES } from './vfio-user/fault-drives.js'
import { FATAL, GONE, SHUFFLED, SLOW, STATUSES } from './vfio-user/faulted.js'
import { kernelsFor } from './vfio-user/kernels.js'
import { runServedGuest, servedGuestParts, type ServedGuestRun } from './vfio-user/served-guest.js'
import { scenarioOf } from './vfio-user/steps.js'

// How Linux's driver handles faults of simulated drives through vfio-user.

describe.each(kernelsFor('7.2'))('faults on Linux %s', (series) => {
  const made = servedGuestParts(series)
  if (typeof made === 'string') {
    test('faults of vfio-user drives', ({ skip }) => skip(made))
    return
  }
  let guest: ServedGuestRun

  beforeAll(async () => {
    guest = await runServedGuest({
      series,
      drives: FAULT_DRIVES,
      // In seconds; the kernel's defaults are 30 and 60.
      parameters: { nvme_core: 'io_timeout=3 admin_timeout=5' },
      scenarios: [
        scenarioOf('statuses', STATUSES, FAULT_DRIVES.length),
        scenarioOf('slow', SLOW),
        scenarioOf('fatal', FATAL),
        scenarioOf('shuffled', SHUFFLED),
        scenarioOf('gone', GONE),
      ],
      deadlineMs: 900_000,
    })
  })

  const of = (scenario: string) => new Steps(guest, scenario)
  /** Messages of the NVMe driver, then of the block layer, about a command that was not retried. */
  const failed = (kind: string, lba: number, sct: number, sc: number) => [
    new RegExp(`@ LBA ${lba}, 1 blocks, .* \\(sct 0x${sct} / sc 0x${sc.toString(16)}\\) MORE DNR`),
    new RegExp(`^${kind} error, dev nvme\\dn1, sector ${lba} `),
  ]

  test('an error status reaches the program as an I/O error, and the kernel logs it', () => {
    const steps = of('statuses')
    const cases = [
      ['unrecovered read', 'critical medium', 100_000, 2, 0x81, 'No data available'],
      ['write fault', 'critical medium', 110_000, 2, 0x80, 'No data available'],
      ['access denied', 'critical medium', 120_000, 2, 0x86, 'No data available'],
      ['unknown status', 'I/O', 130_000, 5, 0x77, 'Input/output error'],
    ] as const
    for (const [name, kind, lba, sct, sc, said] of cases) {
      const step = steps.of(name)
      expect([name, step.code, step.stderr]).toEqual([name, 1, expect.stringContaining(said)])
      expectKernel(step, failed(kind, lba, sct, sc))
    }
    expectKernel(steps.of('beside it'), [])
    steps.text('beside it')
  })

  test('a passthrough command returns the exact status', () => {
    const statuses = ['unrecovered read', 'access denied', 'unknown status'].map((name) =>
      of('statuses').status(`${name}, passed`),
    )
    // With More, since the error log has an entry, and with Do Not Retry.
    expect(statuses).toEqual(['0x6281', '0x6286', '0x6577'])
  })

  test('the kernel silently retries a command without Do Not Retry, and the drive counts all errors', () => {
    const steps = of('statuses')
    steps.text('tried again')
    expectKernel(steps.of('tried again'), [])
    // Access Denied and the unknown status are not media errors.
    expect(steps.json('health')).toMatchObject({ media_errors: '3', num_err_log_entries: '8' })
    steps.text('works')
  })

  test('a command that hangs is aborted, and succeeds when it is retried', () => {
    of('slow').text('hung')
    expectKernel(of('slow').of('hung'), [/QID \d timeout, aborting/, /Abort status: 0x0$/])
  })

  test('if Abort does not find the command, the controller is reset and the command succeeds', () => {
    of('slow').text('lost')
    expectKernel(of('slow').of('lost'), [
      /QID \d timeout, aborting/,
      /Abort status: 0x0$/,
      /QID \d timeout, reset controller$/,
    ])
  })

  test('a command that exceeds the time-out is aborted, and the drive works afterwards', () => {
    of('slow').text('late')
    expectKernel(of('slow').of('late'), [/QID \d timeout, aborting/, /Abort status: 0x0$/])
    expect(of('slow').text('works')).toBe('live\n')
  })

  test('the simulator counts three Aborts and three faults, and reports no mistakes', () => {
    const { statistics, diagnostics } = guest.drives[1]!
    expect([statistics.adminCommands[8], statistics.faultsInjected]).toEqual([3, 3])
    expect(mistakes(diagnostics)).toEqual([])
  })

  test('after CSTS.CFS, the driver resets the controller and retries the read', () => {
    of('fatal').text('fatal')
    expectKernel(of('fatal').of('fatal'), [/controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10$/])
    expect(of('fatal').text('works')).toBe('live\n')
  })

  test('delayed and reordered completions do not corrupt data', () => {
    const { jobs } = of('shuffled').json('verified') as { jobs: { error: number; read: { total_ios: number } }[] }
    expect(jobs).toMatchObject([{ error: 0, read: { total_ios: 1024 }, write: { total_ios: 1024 } }])
    expectKernel(of('shuffled').of('verified'), [])
    // Every third and every seventh of 2048 commands.
    expect(guest.drives[3]!.statistics.faultsInjected).toBeGreaterThan(800)
  })

  test('the driver disables a removed drive, and later reads end immediately', () => {
    const gone = of('gone').of('gone')
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('Input/output error')])
    const disabled = {
      '6.1': [/Removing after probe failure status: -19$/],
      '7.2': [/Disabling device after reset failure: -19$/],
    }
    // The message of the block layer may be later than this step.
    const said = gone.kernel.filter(([, text]) => !text.startsWith('I/O error, dev '))
    expectKernel({ ...gone, kernel: said }, [
      /controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff$/,
      /Does your device have a faulty power saving mode enabled\?$/,
      /Try "nvme_core\.default_ps_max_latency_us=0/,
      /Unable to change power state from D3cold to D0, device inaccessible$/,
      ...disabled[series],
    ])
    expect(of('gone').of('state').stdout).not.toBe('live\n')
    // Linux 7.2 keeps the node, with length 0.
    const again = of('gone').of('read again')
    expect(again.stderr).toMatch(/^0\+0 records in$|failed to open/m)
  })

  test('the kernel reports no bugs or hung tasks, and the guest ends', () => {
    const said = [
      ...guest.kernel,
      ...['statuses', 'slow', 'fatal', 'shuffled', 'gone'].flatMap((name) => guest.scenarios.get(name)!.kernel),
    ]
    expect(said.filter((line) => /BUG|WARNING|Oops|Call Trace|blocked for more/.test(line))).toEqual([])
    expect(guest.finished, guest.console).toBe(true)
  })
})
