import { feature, getFeature, identify, readLog, setFeature } from '../admin.js'
import type { ControllerCase } from '../case.js'
import { check, equal, notApplicable, status, success } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

const ARBITRATION = 0x01
const TEMPERATURE_THRESHOLD = 0x04
const ERROR_RECOVERY = 0x05
const WRITE_CACHE = 0x06
const NUMBER_OF_QUEUES = 0x07
const COALESCING = 0x08
const WRITE_ATOMICITY = 0x0a
const EVENTS = 0x0b

/** Mandatory features of an I/O controller over PCIe (Base 2.3 Figure 32). */
const mandatory = [ARBITRATION, 0x02, TEMPERATURE_THRESHOLD, NUMBER_OF_QUEUES, COALESCING, 0x09, EVENTS]

const reserved = [0x00, 0x50, 0x77, 0xa0]

const needsSelect = ({ oncs }: ControllerFacts) => ((oncs & 0x10) !== 0 ? undefined : 'ONCS.SSFS is 0: no SEL, no SV')

const needsCache = ({ vwc }: ControllerFacts) => ((vwc & 1) !== 0 ? undefined : 'VWC bit 0 is 0: no write cache')

/** Sets a feature and reads it back; a feature that is not changeable must keep its value. */
async function keeps(host: CaseHost, fid: number, value: number, mask = 0xffff_ffff): Promise<void> {
  const before = await feature(host, fid, { cdw11: value })
  const completed = await setFeature(host, fid, value)
  status(completed, '0/00', '1/0e')
  const wanted = completed.status === '0/00' ? value : before
  equal(
    `feature ${fid.toString(16)}h`,
    ((await feature(host, fid, { cdw11: value })) & mask) >>> 0,
    (wanted & mask) >>> 0,
  )
}

interface RoundTrip {
  readonly id: string
  readonly what: string
  readonly spec: string
  readonly needs?: ControllerCase['needs']
  readonly run: (host: CaseHost) => Promise<void>
}

const roundTrips: readonly RoundTrip[] = [
  {
    id: 'feature-arbitration',
    what: 'Arbitration: the burst, and the weights if weighted round robin is supported',
    spec: 'Base 2.3 §5.2.26.1.1',
    run: async (host) => {
      const mask = (host.facts.ams & 1) !== 0 ? 0xffff_ff07 : 0x7
      for (const value of [0x0302_0103, 0x0000_0007, 0xff80_4000]) await keeps(host, ARBITRATION, value, mask)
    },
  },
  {
    id: 'feature-temperature-threshold',
    what: 'Temperature Threshold: separate over and under thresholds of the composite temperature',
    spec: 'Base 2.3 §5.2.26.1.3',
    run: async (host) => {
      await keeps(host, TEMPERATURE_THRESHOLD, 400, 0xffff)
      // A controller with a WCTEMP must support an under temperature threshold.
      if (host.facts.controller.getUint16(266, true) === 0) return
      await keeps(host, TEMPERATURE_THRESHOLD, 0x0010_0000 | 200, 0xffff)
      equal('the over temperature threshold', (await feature(host, TEMPERATURE_THRESHOLD)) & 0xffff, 400)
    },
  },
  {
    id: 'feature-write-cache',
    what: 'Volatile Write Cache: off and on',
    spec: 'Base 2.3 §5.2.26.1.4',
    needs: needsCache,
    run: async (host) => {
      for (const value of [0, 1]) await keeps(host, WRITE_CACHE, value, 1)
    },
  },
  {
    id: 'feature-interrupt-coalescing',
    what: 'Interrupt Coalescing: time and threshold',
    spec: 'Base 2.3 §5.2.26.2.2',
    run: (host) => keeps(host, COALESCING, 0x0105, 0xffff),
  },
  {
    id: 'feature-write-atomicity',
    what: 'Write Atomicity Normal: Disable Normal',
    spec: 'NVM 1.2 §4.1.3, Figure 91',
    run: async (host) => {
      if ((await getFeature(host, WRITE_ATOMICITY)).status === '0/02') notApplicable('the feature is not supported')
      for (const value of [1, 0]) await keeps(host, WRITE_ATOMICITY, value, 1)
    },
  },
  {
    id: 'feature-event-configuration',
    what: 'Asynchronous Event Configuration: each SMART warning, and each notice in OAES',
    spec: 'Base 2.3 §5.2.26.1.5',
    run: async (host) => {
      const notices = host.facts.oaes & 0x0000_0300
      for (const value of [0, 0x02, 0x1f | notices]) await keeps(host, EVENTS, value)
    },
  },
]

/** Base 2.3 §4.4, §5.2.11 and §5.2.26. */
export const featureCases: readonly ControllerCase[] = [
  {
    id: 'features-mandatory',
    title: 'Every feature that is mandatory for an I/O controller is supported',
    spec: 'Base 2.3 §3.1.3.6, Figure 32',
    async run(host) {
      await host.start()
      for (const fid of mandatory) success(await getFeature(host, fid))
    },
  },
  {
    id: 'features-reserved',
    title: 'Get and Set Features of a reserved feature are aborted with Invalid Field in Command',
    spec: 'Base 2.3 §4.4, Figure 403',
    async run(host) {
      await host.start()
      for (const fid of reserved) {
        status(await getFeature(host, fid), '0/02')
        status(await setFeature(host, fid, 0), '0/02')
      }
    },
  },
  ...roundTrips.map(({ id, what, spec, needs, run }): ControllerCase => ({
    id,
    title: `Get Features returns what Set Features set: ${what}`,
    spec,
    ...(needs && { needs }),
    async run(host) {
      await host.start()
      await run(host)
    },
  })),
  {
    id: 'feature-write-cache-absent',
    title: 'Without a volatile write cache its feature is aborted with Invalid Field in Command',
    spec: 'Base 2.3 §5.2.26.1.4',
    needs: ({ vwc }) => ((vwc & 1) === 0 ? undefined : 'VWC bit 0 is 1: there is a write cache'),
    async run(host) {
      await host.start()
      status(await getFeature(host, WRITE_CACHE), '0/02')
      status(await setFeature(host, WRITE_CACHE, 1), '0/02')
    },
  },
  {
    id: 'feature-temperature-threshold-default',
    title: 'The over temperature threshold of the composite temperature is WCTEMP after a reset',
    spec: 'Base 2.3 §5.2.26.1.3, §4.4',
    needs: ({ controller }) => (controller.getUint16(266, true) === 0 ? 'WCTEMP is 0h' : undefined),
    async run(host) {
      await host.start()
      const wctemp = (await identify(host, 0x01)).getUint16(266, true)
      equal('Temperature Threshold', (await feature(host, TEMPERATURE_THRESHOLD)) & 0xffff, wctemp)
    },
  },
  {
    id: 'feature-of-controller-with-nsid',
    title:
      'A feature of controller scope can be set for NSID 0h and FFFFFFFFh, not for 1h, and can be read for all three',
    spec: 'Base 2.3 §4.4',
    needs: ({ blocks }) => (blocks === 0 ? 'namespace 1 is not active' : undefined),
    async run(host) {
      await host.start()
      success(await setFeature(host, TEMPERATURE_THRESHOLD, 390))
      status(await setFeature(host, TEMPERATURE_THRESHOLD, 380, { nsid: 1 }), '1/0f')
      for (const nsid of [0, 1, 0xffff_ffff]) {
        equal(`for NSID ${nsid}`, (await feature(host, TEMPERATURE_THRESHOLD, { nsid })) & 0xffff, 390)
      }
      success(await setFeature(host, TEMPERATURE_THRESHOLD, 385, { nsid: 0xffff_ffff }))
      equal('after NSID FFFFFFFFh', (await feature(host, TEMPERATURE_THRESHOLD)) & 0xffff, 385)
    },
  },
  {
    id: 'feature-of-namespace',
    title: 'Error Recovery has namespace scope: it can be set for one or all namespaces, and read for one',
    spec: 'Base 2.3 §4.4, §4.1.1; NVM 1.2 §4.1.3, Figure 91',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      const at = { nsid: 1 }
      if ((await getFeature(host, ERROR_RECOVERY, at)).status === '0/02') notApplicable('the feature is not supported')
      success(await setFeature(host, ERROR_RECOVERY, 100, at))
      equal('Error Recovery of NSID 1', await feature(host, ERROR_RECOVERY, at), 100)
      success(await setFeature(host, ERROR_RECOVERY, 200, { nsid: 0xffff_ffff }))
      equal('Error Recovery of NSID 1 after FFFFFFFFh', await feature(host, ERROR_RECOVERY, at), 200)
      status(await getFeature(host, ERROR_RECOVERY, { nsid: 0xffff_ffff }), '0/0b')
      status(await getFeature(host, ERROR_RECOVERY), '0/0b')
      status(await setFeature(host, ERROR_RECOVERY, 300), '0/0b')
    },
  },
  {
    id: 'features-select-default',
    title: 'SEL = 001b returns the default whatever the current value, and a reset restores the saved or default value',
    spec: 'Base 2.3 §5.2.11.1, §4.4',
    needs: needsSelect,
    async run(host) {
      await host.start()
      const standard = await feature(host, TEMPERATURE_THRESHOLD, { select: 1 })
      const saved = await feature(host, TEMPERATURE_THRESHOLD, { select: 2 })
      success(await setFeature(host, TEMPERATURE_THRESHOLD, (standard & 0xffff) === 395 ? 394 : 395))
      equal('default value', await feature(host, TEMPERATURE_THRESHOLD, { select: 1 }), standard)
      equal('saved value', await feature(host, TEMPERATURE_THRESHOLD, { select: 2 }), saved)
      await host.disable()
      await host.start()
      equal('current value after the reset', await feature(host, TEMPERATURE_THRESHOLD), saved)
    },
  },
  {
    id: 'features-select-capabilities',
    title: 'SEL = 011b returns the capabilities of each mandatory feature; Temperature Threshold is changeable',
    spec: 'Base 2.3 §5.2.11.1, §5.2.11.2, Figure 199',
    needs: needsSelect,
    async run(host) {
      await host.start()
      for (const fid of mandatory) {
        const capabilities = await feature(host, fid, { select: 3 })
        equal(`feature ${fid.toString(16)}h: bits 31:3`, capabilities >>> 3, 0)
        equal(`feature ${fid.toString(16)}h: NS Specific`, (capabilities >>> 1) & 1, 0)
      }
      equal('Temperature Threshold: Changeable', (await feature(host, TEMPERATURE_THRESHOLD, { select: 3 })) & 4, 4)
    },
  },
  {
    id: 'features-not-saveable',
    title: 'Set Features with SV = 1 of a feature that is not saveable is aborted with Feature Identifier Not Saveable',
    spec: 'Base 2.3 §5.2.26',
    needs: needsSelect,
    async run(host) {
      await host.start()
      let refused = 0
      for (const fid of [ARBITRATION, TEMPERATURE_THRESHOLD, NUMBER_OF_QUEUES, EVENTS]) {
        if (((await feature(host, fid, { select: 3 })) & 1) === 1) continue
        status(await setFeature(host, fid, await feature(host, fid), { save: true }), '1/0d')
        refused++
      }
      if (refused === 0) notApplicable('every checked feature is saveable')
    },
  },
  {
    id: 'features-saved',
    title: 'A saveable feature that is set with SV = 1 keeps its value across a reset',
    spec: 'Base 2.3 §4.4, §5.2.26, Figure 125',
    needs: needsSelect,
    async run(host) {
      await host.start()
      if (((await feature(host, TEMPERATURE_THRESHOLD, { select: 3 })) & 1) === 0)
        notApplicable('Temperature Threshold is not saveable')
      const before = (await feature(host, TEMPERATURE_THRESHOLD)) & 0xffff
      try {
        success(await setFeature(host, TEMPERATURE_THRESHOLD, 388, { save: true }))
        success(await setFeature(host, TEMPERATURE_THRESHOLD, 377))
        equal('saved value', (await feature(host, TEMPERATURE_THRESHOLD, { select: 2 })) & 0xffff, 388)
        await host.disable()
        await host.start()
        equal('current value after the reset', (await feature(host, TEMPERATURE_THRESHOLD)) & 0xffff, 388)
      } finally {
        await setFeature(host, TEMPERATURE_THRESHOLD, before, { save: true })
      }
    },
  },
  {
    id: 'number-of-queues-limit',
    title: 'Number of Queues with FFFFh in either half is rejected with Invalid Field in Command, or grants any number',
    spec: 'Base 2.3 §5.2.26.2.1, Figure 472',
    async run(host) {
      await host.enable()
      for (const cdw11 of [0xffff, 0xffff_0000]) {
        const completed = await setFeature(host, NUMBER_OF_QUEUES, cdw11)
        status(completed, '0/02', '0/00')
        const halves = [completed.dw0 & 0xffff, completed.dw0 >>> 16]
        if (completed.status === '0/00') check(!halves.includes(0xffff), 'fewer than 65,536 queues are granted')
      }
      const granted = await setFeature(host, NUMBER_OF_QUEUES, 0)
      success(granted)
      equal('Get Features', await feature(host, NUMBER_OF_QUEUES), granted.dw0)
    },
  },
  {
    id: 'number-of-queues-too-late',
    title: 'Number of Queues is a Command Sequence Error while an I/O queue exists, and does not change',
    spec: 'Base 2.3 §5.2.26.2.1',
    async run(host) {
      await host.start()
      const granted = await feature(host, NUMBER_OF_QUEUES)
      await host.createCq(1, 4)
      status(await setFeature(host, NUMBER_OF_QUEUES, 0), '0/0c')
      equal('Get Features', await feature(host, NUMBER_OF_QUEUES), granted)
    },
  },
  {
    id: 'features-smart-warning-follows-threshold',
    title: 'Critical Warning bit 1 is set while the composite temperature is at or over its threshold',
    spec: 'Base 2.3 §5.2.26.1.3, §5.2.12.1.3',
    async run(host) {
      await host.start()
      const kelvins = (await readLog(host, 0x02, 512)).getUint16(1, true)
      if (kelvins === 0) notApplicable('no composite temperature is reported')
      for (const [threshold, wanted] of [
        [kelvins - 5, 2],
        [kelvins + 60, 0],
      ] as const) {
        success(await setFeature(host, TEMPERATURE_THRESHOLD, threshold))
        equal(`Critical Warning bit 1 at ${threshold} K`, (await readLog(host, 0x02, 512)).getUint8(0) & 2, wanted)
      }
    },
  },
]
