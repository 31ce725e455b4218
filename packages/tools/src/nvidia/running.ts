import { unknown, type Known } from '../machine/known.js'
import type { Root } from '../machine/root.js'
import type { Flavour, NvidiaGpu, RunningModule } from './driver-state.js'
import { isDriverVersion } from './version.js'

const VERSION_FILE = 'proc/driver/nvidia/version'
const SYSFS = 'sys/module/nvidia'
const MAX_GPUS = 64

/** Loaded modules that bind NVIDIA GPUs instead of NVIDIA's own. */
const RIVALS = ['nouveau', 'nova_core'] as const

/** Reads the loaded module from its own and the kernel's files. */
export async function readRunning(root: Root): Promise<Known<RunningModule | undefined>> {
  const text = await root.text(VERSION_FILE)
  const inSysfs = await root.exists(SYSFS)
  if (text === undefined && !inSysfs)
    return (await root.exists('proc')) || (await root.exists('sys'))
      ? undefined
      : unknown('there is no /proc and no /sys')
  const said = text === undefined ? undefined : parseVersionFile(text)
  const version = said?.version ?? (await root.text(`${SYSFS}/version`))
  const taints = await root.text(`${SYSFS}/taint`)
  const sources = [...(text === undefined ? [] : [`/${VERSION_FILE}`]), ...(inSysfs ? [`/${SYSFS}`] : [])]
  return {
    version: version !== undefined && isDriverVersion(version) ? version : unknown(`not in ${sources.join(' and ')}`),
    flavour: said?.flavour ?? flavourByTaint(taints),
    sources,
    srcversion: await root.text(`${SYSFS}/srcversion`),
    references: (await root.number(`${SYSFS}/refcnt`)) ?? root.why(`${SYSFS}/refcnt`),
    taints: taints ?? root.why(`${SYSFS}/taint`),
  }
}

/** 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.142  Release Build ...' */
export function parseVersionFile(text: string): { version: string | undefined; flavour: Known<Flavour> } {
  const line = text.split('\n').find((each) => each.startsWith('NVRM version:')) ?? ''
  const version = line.split(/\s+/).find(isDriverVersion)
  if (/Open Kernel Module/.test(line)) return { version, flavour: 'open' }
  if (/Kernel Module/.test(line)) return { version, flavour: 'proprietary' }
  return { version, flavour: unknown(`/${VERSION_FILE} has an unknown format`) }
}

export async function readRivals(root: Root): Promise<Known<string[]>> {
  if (!(await root.exists('sys/module'))) return root.why('sys/module')
  const loaded = await Promise.all(RIVALS.map((name) => root.exists(`sys/module/${name}`)))
  return RIVALS.filter((_, index) => loaded[index])
}

/** Reads the module's data of each GPU. */
export async function readGpus(root: Root): Promise<NvidiaGpu[]> {
  const folder = 'proc/driver/nvidia/gpus'
  const addresses = (await root.list(folder)).slice(0, MAX_GPUS)
  return Promise.all(
    addresses.map(async (address) => {
      const path = `${folder}/${address}/information`
      const text = await root.text(path)
      const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.+)$`, 'm').exec(text ?? '')?.[1]?.trim()
      const uuid = field('GPU UUID')
      const minor = field('Device Minor')
      return {
        address,
        model: field('Model') ?? (text === undefined ? root.why(path) : unknown(`not in /${path}`)),
        uuid: uuid?.includes('?') ? undefined : uuid,
        minor: minor !== undefined && /^\d+$/.test(minor) ? Number(minor) : undefined,
        videoBios: field('Video BIOS')?.includes('?') ? undefined : field('Video BIOS'),
      }
    }),
  )
}

/** The proprietary flavour taints the kernel. */
function flavourByTaint(taints: string | undefined): Known<Flavour> {
  if (taints === undefined) return unknown(`neither /${VERSION_FILE} nor /${SYSFS}/taint is readable`)
  return taints.includes('P') ? 'proprietary' : 'open'
}
