import { describe, expect, test } from 'vitest'
import { committed, kernels, queues } from './committed.js'
import { parsePtx } from './parse.js'
import { countOf, violations } from './rules.js'

const ptx = parsePtx(committed)

describe('the shipped PTX', () => {
  test('supports drivers from CUDA 12.2 and GPUs from compute capability 7.5', () => {
    expect([ptx.version, ptx.target, ptx.addressSize]).toEqual(['8.2', 'sm_75', '64'])
  })

  test('has these kernels, with parameters of 8 bytes each', () => {
    const parameters = (of: readonly [string, { readonly parameters: readonly string[] }][]) =>
      Object.fromEntries(of.map(([name, each]) => [name, each.parameters]))
    expect(parameters(ptx.kernels.map((each) => [each.name, each]))).toEqual(parameters(Object.entries(kernels)))
  })

  test('contains no paths or build identifiers of the build machine', () => {
    expect(committed).not.toMatch(/(^|[\s"'(=])\/[\w.]|CL-\d|\.file\b|\.loc\b|\.section\b/m)
  })

  test('follows all rules of access to queues, doorbells and memory', () => {
    const found = violations(ptx, queues)
    expect(found, found.join('\n')).toEqual([])
  })

  test.each(Object.entries(kernels))(
    'has the expected number of doorbell writes, entry stores and polls: %s',
    (name, { rings, entryStores, acquires, releases, polls, queues: of }) => {
      const kernel = ptx.kernels.find((each) => each.name === name)!
      expect(countOf(kernel, /\.mmio\b/)).toEqual(rings)
      expect(countOf(kernel, /^ld\..*acquire/)).toEqual(acquires)
      expect(countOf(kernel, /^st\..*release/)).toEqual(releases)
      expect(countOf(kernel, /^ld\./)[`${of?.completionQueue ?? ''}+8`] ?? 0).toBe(polls)
      if (of === undefined || entryStores === 0) return
      expect(countOf(kernel, /^st\.global\.v4\.u32$/)).toEqual({
        [of.submissionQueue]: entryStores,
        [`${of.submissionQueue}+16`]: entryStores,
        [`${of.submissionQueue}+32`]: entryStores,
        [`${of.submissionQueue}+48`]: entryStores,
      })
    },
  )
})

/** Replaces the first match of `from` in the PTX, or in a kernel. Throws if there is none. */
function planted(from: RegExp, to: string, name?: string): string {
  const start = name === undefined ? 0 : committed.indexOf(`.entry ${name}(`)
  const text = committed.slice(start)
  if (start < 0 || !from.test(text)) throw new Error(`the PTX does not contain ${from.source}: choose another place`)
  return committed.slice(0, start) + text.replace(from, to)
}

const ring = /st\.mmio\.relaxed\.sys\.global\.u32 \[(%rd\d+)\], %r\d+;/
const fence = /fence\.sc\.sys;/
// The load whose upper 16 bits, the Phase Tag and the status, are extracted next.
const poll = /ld\.relaxed\.sys\.global\.u64 (%rd\d+), \[(%rd\d+)\];(?=[^;]{0,40}shr\.u64\s+%rd\d+, \1, 48;)/
// The poll of the control word precedes the acquire load.
const control = /ld\.relaxed\.sys\.global\.u64 (%rd\d+), \[(%rd\d+)\];(?=[^]{0,600}?ld\.acquire\.sys\.global\.u64)/
const release = /st\.release\.sys\.global\.u64 \[(%rd\d+)\], (%rd\d+);/
const entry = /st\.global\.v4\.u32 \[(%rd\d+)\], \{(%r\d+), [^}]*\};/
const tail = /(fence\.sc\.sys;[^]*?)(st\.mmio\.relaxed\.sys\.global\.u32 \[(%rd\d+)\], %r\d+;)/

test.each<[what: string, from: RegExp, to: string, said: RegExp]>([
  ['another version', /\.version 8\.2/, '.version 9.0', /\.version is 9\.0/],
  ['another floor', /\.target sm_75/, '.target sm_90', /\.target is sm_90/],
  ['32 bits', /\.address_size 64/, '.address_size 32', /\.address_size is 32/],
  [
    'a function of the runtime',
    /(?=\.visible)/,
    '.extern .func (.param .b32 a) vprintf\n(\n\t.param .b64 b\n)\n;\n',
    /outside of kernels there is \.extern \.func .* vprintf/,
  ],
  ['a variable', /(?=\.visible)/, '.global .align 4 .u32 count;\n', /outside of kernels there is \.global/],
])('finds %s', (_, from, to, said) => {
  expect(violations(parsePtx(planted(from, to)), queues).join('\n')).toMatch(said)
})

/** Kernels that store entries and poll completions. */
const leading = Object.keys(queues).filter((name) => kernels[name]!.entryStores > 0)

describe.each(leading)('in %s', (name) => {
  test.each<[what: string, from: RegExp, to: string, said: RegExp]>([
    ['a call', fence, '{ call.uni (retval0), vprintf, (param0, param1); } $&', / calls a function: call\.uni/],
    ['local memory', /(?=\t\.reg \.pred)/, '\t.local .align 8 .b8 __local_depot0[16];\n', / uses local memory/],
    ['a store to local memory', fence, 'st.local.u32 [%rd1], %r1; $&', / uses local memory: st\.local/],
    [
      'an unclassified instruction',
      ring,
      '$& multimem.st.global.u32 [$1], %r1;',
      /an unclassified instruction: multimem\.st/,
    ],
    ['a volatile doorbell', ring, 'st.volatile.global.u32 [$1], %r1;', /uses volatile/],
    [
      'an ordinary doorbell',
      ring,
      'st.relaxed.sys.global.u32 [$1], %r1;',
      /a doorbell must only be written, by st\.mmio/,
    ],
    [
      'a generic doorbell',
      ring,
      'st.mmio.relaxed.sys.u32 [$1], %r1;',
      /in an unsupported way: st\.mmio\.relaxed\.sys\.u32/,
    ],
    ['a doorbell of 64 bits', ring, 'st.mmio.relaxed.sys.global.u64 [$1], %rd1;', /in an unsupported way/],
    ['a write next to a doorbell', ring, 'st.mmio.relaxed.sys.global.u32 [$1+4], %r1;', /a write next to a doorbell/],
    [
      'a doorbell write to another address',
      ring,
      `ld.param.u64 %rd9001, [${name}_param_0]; st.mmio.relaxed.sys.global.u32 [%rd9001], %r1;`,
      /st\.mmio to an address that is not a doorbell/,
    ],
    ['a register that is read', ring, '$& ld.mmio.relaxed.sys.global.u32 %r1, [$1];', /reads a register: ld\.mmio/],
    [
      'a doorbell that is read',
      ring,
      '$& ld.global.u32 %r1, [$1];',
      /ld\.global\.u32 .*a doorbell must only be written/,
    ],
    [
      'a doorbell that is read through a copied address',
      ring,
      '$& add.s64 %rd9001, $1, 4; mov.u64 %rd9002, %rd9001; ld.u32 %r1, [%rd9002];',
      /ld\.u32 of \[p0\+24\]\+4: a doorbell must only be written/,
    ],
    [
      'an atomic addition to a doorbell',
      ring,
      '$& atom.global.add.u32 %r1, [$1], 1;',
      /atom\.global.*a doorbell must only be written/,
    ],
    [
      'an address of unknown origin',
      ring,
      '$& xor.b64 %rd9001, $1, 1; xor.b64 %rd9002, %rd9001, 1; ld.u32 %r1, [%rd9002];',
      /ld\.u32 of an unknown address/,
    ],
    ['no fence', fence, '', /rung before a fence/],
    ['a fence that is too weak', fence, 'fence.acq_rel.sys;', /rung before a fence/],
    ['a fence for this GPU', fence, 'fence.sc.gpu;', /rung before a fence/],
    ['a conditional fence', fence, '@%p1 fence.sc.sys;', /rung before a fence/],
    ['a path around the fence', fence, '@%p1 bra $past; fence.sc.sys; $past:', /rung before a fence/],
    ['a fence too late', tail, '$2 $1', /rung before a fence/],
    ['a store after the fence', tail, '$1 st.global.u64 [%rd1+8], %rd1; $2', /rung before a fence/],
    ['an entry in pieces', entry, 'st.global.u32 [$1], $2;', /entries must be stored 16 bytes at a time/],
    [
      'an entry that is read',
      entry,
      '$& ld.global.u32 %r1, [$1];',
      /entries must be stored 16 bytes at a time, and never read/,
    ],
    ['a weak poll', poll, 'ld.global.u64 $1, [$2];', /one load .* with system scope/],
    ['a poll for this GPU', poll, 'ld.relaxed.gpu.global.u64 $1, [$2];', /one load .* with system scope/],
    ['a volatile poll', poll, 'ld.volatile.global.u64 $1, [$2];', /uses volatile/],
    ['a control word polled by a weak load', control, 'ld.global.u64 $1, [$2];', /a word of the host must be loaded/],
    ['a control word polled for this GPU', control, 'ld.relaxed.gpu.global.u64 $1, [$2];', /a word of the host/],
    [
      'a weak store in place of a release for the host',
      release,
      'st.global.u64 [$1], $2;',
      /a word for the host must be stored/,
    ],
    ['a second load of an entry', poll, '$& ld.global.u32 %r1, [$2+4];', /one load of its last 8 bytes/],
  ])('%s is found', (_, from, to, said) => {
    const found = violations(parsePtx(planted(from, to, name)), queues)
    expect(found.join('\n')).toMatch(said)
    expect(found.filter((each) => !each.startsWith(name))).toEqual([])
  })
})

test.each([
  ['is read', ring, '$& ld.u32 %r1, [$1];', /ld\.u32 of p0: a doorbell must only be written/],
  ['is written without a fence', fence, '', /rung before a fence/],
  ['is written beside', ring, 'st.mmio.relaxed.sys.global.u32 [$1+4], %r1;', /a write next to a doorbell/],
])('a register of gpunvme_store32 that %s is found', (_, from, to, said) => {
  expect(violations(parsePtx(planted(from, to, 'gpunvme_store32')), queues).join('\n')).toMatch(said)
})

describe('finds a fence before the lanes of a warp have met', () => {
  const problem = 'gpunvme_serve: a fence before the lanes that stored or checked entries have met'
  const start = committed.indexOf('.entry gpunvme_serve(')
  const end = committed.indexOf('.entry ', start + 1)
  const kernel = committed.slice(start, end)
  const meet = /bar\.warp\.sync\s+-1;/g
  const found = (text: string) => violations(parsePtx(committed.slice(0, start) + text + committed.slice(end)), queues)

  test.each(['', 'bar.warp.sync 1;', '@%p1 bar.warp.sync -1;'])(
    'that stored entries: "%s" in place of each meeting',
    (to) => {
      expect(found(kernel.replace(meet, to))).toContain(problem)
    },
  )

  test('that checked entries of other lanes', () => {
    const place = kernel.indexOf('fence.sc.sys;')
    const last = [...kernel.slice(0, place).matchAll(meet)].at(-1)!
    expect(found(kernel.slice(0, last.index) + kernel.slice(last.index + last[0].length))).toEqual([problem])
  })
})

test.each<[what: string, from: RegExp, to: string, said: RegExp]>([
  ['a text that is not PTX', /\.version[^]*/, 'hello', /expected \.version/],
  ['an unknown label', fence, 'bra $nowhere; $&', /no label \$nowhere/],
  ['an indirect branch', fence, 'brx.idx %r1, table; $&', /unknown targets of brx\.idx/],
  ['invalid syntax', fence, '?; $&', /expected an instruction, got \?/],
])('rejects %s', (_, from, to, said) => {
  expect(() => violations(parsePtx(planted(from, to)), queues)).toThrow(said)
})

test('counts one release fewer if a release becomes relaxed', () => {
  const text = planted(release, 'st.relaxed.sys.global.u64 [$1], $2;')
  const releases = Object.values(countOf(parsePtx(text).kernels[0]!, /^st\..*release/))
  expect(releases.reduce((sum, count) => sum + count)).toBe(6)
})

test('counts fewer doorbell writes if some are merged, and more if some are added', () => {
  const rings = (text: string) => countOf(parsePtx(text).kernels[0]!, /\.mmio\b/)
  expect(rings(planted(ring, ''))).toEqual({ '[p0+16]': 1, '[p0+24]': 1 })
  expect(rings(planted(ring, '$& $&'))).toEqual({ '[p0+16]': 1, '[p0+24]': 3 })
})

test.each(Object.keys(queues))('accepts the older spelling of __threadfence_system(): %s', (name) => {
  expect(violations(parsePtx(planted(fence, 'membar.sys;', name)), queues)).toEqual([])
})
