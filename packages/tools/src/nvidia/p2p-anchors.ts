import { findFunctions, hashOfCode } from './c-source.js'
import type { Edit } from './edits.js'

/**
 * The changes that let GPUs of the Turing, Ampere and Ada generations access each other through BAR1, in the complete
 * sources of 580.65.06 to 595.45.04: the default of seven dispatch tables becomes Hopper's function, and the two
 * functions that connect and disconnect GPUs handle that kind of connection. Read at all 57 tags from 570.86.15 to
 * 595.45.04, which have each of these exactly once; before 580, more is missing.
 */
export const P2P_SINCE = '580.65.06'
export const P2P_MARK = 'bar1-p2p/1'

export interface DispatchAnchor {
  readonly file: string
  readonly entry: string
  /** Suffixes of the generated no-op functions, by release. */
  readonly stubs: readonly string[]
}

export interface FunctionAnchor {
  readonly file: string
  readonly name: string
  readonly sha256: string
  /** Text inserted after its opening brace. */
  readonly text: string
}

export interface P2pAnchors {
  readonly dispatch: readonly DispatchAnchor[]
  readonly functions: readonly FunctionAnchor[]
  /** The line after which the mark is inserted. */
  readonly mark: { readonly file: string; readonly line: string }
}

const KERNEL_BUS = 'src/nvidia/generated/g_kern_bus_nvoc.c'
const VIRTUAL_MEMORY = 'src/nvidia/generated/g_virt_mem_allocator_nvoc.c'
const PASCAL_BUS = 'src/nvidia/src/kernel/gpu/bus/arch/pascal/kern_bus_gp100.c'

export const P2P_ANCHORS: P2pAnchors = {
  dispatch: [
    { file: KERNEL_BUS, entry: 'kbusGetBar1P2PDmaInfo', stubs: ['395e98'] },
    { file: KERNEL_BUS, entry: 'kbusCreateP2PMappingForBar1P2P', stubs: ['395e98'] },
    { file: KERNEL_BUS, entry: 'kbusRemoveP2PMappingForBar1P2P', stubs: ['395e98'] },
    { file: KERNEL_BUS, entry: 'kbusHasPcieBar1P2PMapping', stubs: ['d69453'] },
    { file: KERNEL_BUS, entry: 'kbusIsPcieBar1P2PMappingSupported', stubs: ['d69453'] },
    { file: VIRTUAL_MEMORY, entry: 'dmaAllocBar1P2PMapping', stubs: ['46f6a7', '395e98'] },
    { file: VIRTUAL_MEMORY, entry: 'dmaFreeBar1P2PMapping', stubs: ['b3696a', 'd44104'] },
  ],
  functions: [
    {
      file: PASCAL_BUS,
      name: 'kbusCreateP2PMapping_GP100',
      sha256: '50507d6f4a1d5a5fa8564a14901a9d54a60d24c0c48d2b6915aceec6593969cd',
      text: connection('Create'),
    },
    {
      file: PASCAL_BUS,
      name: 'kbusRemoveP2PMapping_GP100',
      sha256: 'f7979772198cf82753fcb04e02eb092ad0edcc9df485fed25f38899a0dab2a69',
      text: connection('Remove'),
    },
  ],
  mark: { file: 'kernel-open/nvidia/nv.c', line: 'MODULE_LICENSE("Dual MIT/GPL");' },
}

function connection(verb: 'Create' | 'Remove'): string {
  return `
    /* Inserted by gpunvme: a connection through BAR1, for GPUs before Hopper. */
    if (FLD_TEST_DRF(_P2PAPI, _ATTRIBUTES, _CONNECTION_TYPE, _PCIE_BAR1, attributes))
        return kbus${verb}P2PMappingForBar1P2P_HAL(pGpu0, pKernelBus0, pGpu1, pKernelBus1, attributes);
`
}

/** Returns the files to edit, without duplicates. */
export function filesOf({ dispatch, functions, mark }: P2pAnchors): string[] {
  return [...new Set([...dispatch, ...functions, mark].map(({ file }) => file))]
}

/**
 * Returns the edits of each file. @returns sentences on unexpected content, if any: then nothing may be edited.
 * @param sources contents of all of `filesOf(anchors)`, by path.
 */
export function p2pEdits(
  sources: ReadonlyMap<string, string>,
  anchors: P2pAnchors,
): { edits: Map<string, Edit[]>; problems: string[] } {
  const edits = new Map(filesOf(anchors).map((file) => [file, [] as Edit[]]))
  const problems: string[] = []
  const take = (file: string, found: Edit | string) => {
    if (typeof found === 'string') problems.push(`${file}: ${found}`)
    else edits.get(file)!.push(found)
  }
  for (const anchor of anchors.dispatch) take(anchor.file, dispatchEdit(sources.get(anchor.file) ?? '', anchor))
  for (const anchor of anchors.functions) take(anchor.file, functionEdit(sources.get(anchor.file) ?? '', anchor))
  take(anchors.mark.file, markEdit(sources.get(anchors.mark.file) ?? '', anchors.mark.line))
  for (const each of edits.values()) each.sort((a, b) => a.at - b.at)
  return { edits, problems }
}

function dispatchEdit(source: string, { entry, stubs }: DispatchAnchor): Edit | string {
  const found = [...source.matchAll(new RegExp(`->__${entry}__ = &${entry}_(\\w+);`, 'g'))]
  const suffixes = found.map(([, suffix = '']) => suffix)
  const idle = found.filter(([, suffix = '']) => stubs.includes(suffix))
  if (idle.length !== 1 || suffixes.filter((suffix) => suffix === 'GH100').length !== 1 || found.length !== 2)
    return `${entry} is dispatched to ${suffixes.length === 0 ? 'nothing' : suffixes.join(', ')}; expected GH100 and ${stubs.join(' or ')}`
  const [text, suffix = ''] = idle[0]!
  return { at: idle[0]!.index + text.length - suffix.length - 1, removed: suffix.length, text: 'GH100' }
}

function functionEdit(source: string, { name, sha256, text }: FunctionAnchor): Edit | string {
  const [place, another] = findFunctions(source, name)
  if (place === undefined || another !== undefined)
    return `${name} is ${place === undefined ? 'missing' : 'defined more than once'}`
  if (hashOfCode(source.slice(place.start, place.end)) !== sha256) return `${name} has unknown code`
  return { at: source.indexOf('\n', place.bodyStart), removed: 0, text }
}

function markEdit(source: string, line: string): Edit | string {
  const found = source.split('\n').filter((each) => each.trim() === line).length
  if (found !== 1) return `the line ${line} occurs ${found} times`
  return { at: source.indexOf(line) + line.length, removed: 0, text: `\nMODULE_INFO(gpunvme, "${P2P_MARK}");` }
}
