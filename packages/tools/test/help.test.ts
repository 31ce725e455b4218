import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, scratch } from './gpunvme.js'

const cwd = scratch()
/** In an order in which each finds what the ones before have made. */
const VERBS = ['inspect', 'pack', 'ls', 'load', 'verify', 'rm', 'identify', 'regs', 'decode', 'demo']

beforeAll(async () => {
  writeFileSync(join(cwd, 'controller.bin'), new Uint8Array(4096))
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
})

test('the help names every verb and every exit code, in 80 columns', async () => {
  const { code, stdout, stderr } = await gpunvme(['--help'], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  for (const verb of VERBS) expect(stdout).toMatch(new RegExp(`^ {2}${verb} `, 'm'))
  for (const exit of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(stdout).toMatch(new RegExp(`\\b${exit}  `))
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect((await gpunvme(['help'], { cwd })).stdout).toBe(stdout)
})

test('every example in every help runs as it stands', async () => {
  for (const verb of VERBS) {
    const { stdout } = await gpunvme(['help', verb], { cwd })
    expect(stdout).toBe((await gpunvme([verb, '--help'], { cwd })).stdout)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    const examples = [...stdout.matchAll(/^ {2}\$ gpunvme (.*)$/gm)].map(([, args = '']) => args)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      const { code, stderr } = await gpunvme(example.split(' '), { cwd })
      expect({ example, code, stderr: code === 0 ? '' : stderr }).toEqual({ example, code: 0, stderr: '' })
    }
  }
})

test('--version prints the version of the package', async () => {
  const { code, stdout } = await gpunvme(['--version'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
