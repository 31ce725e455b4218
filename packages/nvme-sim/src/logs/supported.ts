import {
  CommandEffects,
  CommandEffectsLog,
  FeatureEffects,
  FeatureEffectsLog,
  LogPageSupport,
  SupportedLogPages,
} from '@gpunvme/nvme-spec'
import type { AdminCommand } from '../admin/admin-command.js'
import type { Device } from '../controller/device.js'
import { supportedFeatures } from '../features/commands.js'
import type { Effects, IoCommand } from '../nvm/io-command.js'

/** The commands of this controller; Identify and the log pages are derived from them. */
export interface SupportedCommands {
  readonly admin: ReadonlyMap<number, AdminCommand>
  /** By opcode. */
  readonly io: readonly (IoCommand | undefined)[]
}

/** Commands Supported and Effects (Base 2.3 §5.2.12.1.6). */
export function commandEffectsPage({ admin, io }: SupportedCommands): DataView {
  const ACS = new Array<number>(256).fill(0)
  for (const [opcode, { effects }] of admin) ACS[opcode] = commandEffects(effects)
  const IOCS = io.map((command) => (command === undefined ? 0 : commandEffects(command.effects)))
  return CommandEffectsLog.create({ ACS: Uint32Array.from(ACS), IOCS: Uint32Array.from(IOCS) }).data
}

/** Feature Identifiers Supported and Effects (Base 2.3 §5.2.12.1.18). */
export function featureEffectsPage(device: Device): DataView {
  const FIS = new Uint32Array(256)
  for (const [fid, scope] of supportedFeatures(device)) {
    FIS[fid] = FeatureEffects.encode({ FSUPP: 1, ...(scope === 'namespace' ? { NSCPE: 1 } : { CSCPE: 1 }) })
  }
  return FeatureEffectsLog.create({ FIS }).data
}

/** Supported Log Pages: none supports an index as its offset (Base 2.3 §5.2.12.1.1). */
export function supportedLogPages(lids: Iterable<number>): DataView {
  const LIDS = new Uint32Array(256)
  for (const lid of lids) LIDS[lid] = LogPageSupport.encode({ LSUPP: 1 })
  return SupportedLogPages.create({ LIDS }).data
}

function commandEffects(effects: Effects = {}): number {
  return CommandEffects.encode({ CSUPP: 1, ...effects } as Parameters<typeof CommandEffects.encode>[0])
}
