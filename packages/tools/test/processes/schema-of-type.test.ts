import ts from 'typescript'
import { expect, test } from 'vitest'
import { Schemas } from '../../scripts/schema-of-type.mjs'

/** Returns the schema of each exported type alias of a source text. */
function schemasOf(source: string): Record<string, unknown> {
  const host = ts.createCompilerHost({})
  const file = ts.createSourceFile('types.ts', source, ts.ScriptTarget.Latest, true)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) => (name === 'types.ts' ? file : read(name, ...rest))
  const checker = ts.createProgram(['types.ts'], { strict: true, noLib: true, types: [] }, host).getTypeChecker()
  const schemas = new Schemas(checker)
  return Object.fromEntries(
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(file)!)
      .map((symbol) => [symbol.name, schemas.of(checker.getDeclaredTypeOfSymbol(symbol))]),
  )
}

test('the schema of a union of objects keeps an index signature', () => {
  const { Result } = schemasOf('export type Result = { a: string; [name: string]: string } | { a: string; b: number }')
  expect(Result).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: ['string', 'number'] } },
    required: ['a'],
    additionalProperties: { type: 'string' },
  })
})

test('recursive types of the same name have separate definitions', () => {
  const { Result } = schemasOf(`
    namespace one { export interface Node { left?: Node } }
    namespace two { export interface Node { right?: Node } }
    export type Result = { a: one.Node; b: two.Node }`)
  expect(Result).toMatchObject({
    properties: { a: { $ref: '#/$defs/Node' }, b: { $ref: '#/$defs/Node2' } },
    $defs: {
      Node: { properties: { left: { $ref: '#/$defs/Node' } } },
      Node2: { properties: { right: { $ref: '#/$defs/Node2' } } },
    },
  })
})
