import { expect, test } from 'vitest'
import { completionTree, type CompletedNode } from '../src/completion/tree.js'
import { VERBS } from './all-verbs.js'
import { failureOf, gpunvme, json, scratch, testSession } from './gpunvme.js'

test('completion without a shell prints the location for the script of each shell', async () => {
  const cwd = scratch()
  const { code, stdout } = await gpunvme(['completion'], { cwd })
  expect(code).toBe(0)
  const shells = ['bash', 'zsh', 'fish']
  for (const shell of shells) expect(stdout).toContain(`gpunvme completion ${shell}`)
  expect(json(await gpunvme(['completion', '--json'], { cwd }))).toEqual({
    schema: 'gpunvme.completion/1',
    shells,
  })
  expect((await failureOf('completion', 'tcsh')).message).toContain('Allowed choices are bash, zsh, fish')
})

test('completionTree has every verb with its options, and marks options that take a file', async () => {
  const nodes = new Map((await completionTree(testSession())).map((node): [string, CompletedNode] => [node.path, node]))
  for (const { name } of VERBS) expect(nodes.get(name)?.options.flatMap(({ names }) => names)).toContain('--help')
  const unknown = [...nodes.values()].flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) => {
      const takesFile = /file|image|output|folder/.test(names.at(-1)!)
      return takesFile && value?.kind === 'anything' ? [`${path} ${names.at(-1)!}`] : []
    }),
  )
  expect(unknown).toEqual([])
})
