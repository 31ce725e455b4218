import { expect, test } from 'vitest'
import { merge, render, shapeOf } from './json-shape.js'

test('members missing in a sample are optional, and different types form a union', () => {
  const shape = merge(shapeOf({ a: 1, b: [{ c: 'x' }, { c: 'y', d: null }] }), shapeOf({ a: 'one', b: [] }))
  expect(render(shape)).toBe(`{
  a: number | string
  b: {
    c: string
    d?: null
  }[]
}`)
})

test('keys that are names of the wire format become an index signature', () => {
  expect(render(shapeOf({ fields: { EN: 1, CSS: 'NVM' } }))).toBe('{\n  fields: { [name]: number | string }\n}')
})

test('values of different kinds are merged by kind', () => {
  const shape = [{ a: [1] }, { a: null }, { a: { b: 'x' } }, { a: { b: 1 } }, { a: ['y'] }].map(shapeOf).reduce(merge)
  expect(render(shape)).toBe('{\n  a: null | {\n    b: number | string\n  } | (number | string)[]\n}')
})
