import { expect, test } from 'vitest'
import { findFunctions, hashOfCode } from './c-source.js'

function textOf(source: string, name: string): string[] {
  return findFunctions(source, name).map(({ start, end }) => source.slice(start, end))
}

test('findFunctions includes the type of a definition on preceding lines', () => {
  const source =
    'int a;\nstatic inline int\nwanted\n(\n    int b\n)\n{\n    if (b) { return 1; }\n    return 0;\n}\nint c;\n'
  expect(textOf(source, 'wanted')).toEqual([source.slice(source.indexOf('static'), source.indexOf('\nint c'))])
})

test.each([
  ['a call', 'int f(void)\n{\n    return wanted(1);\n}\n'],
  ['a declaration', 'int wanted(int b);\n'],
  ['a comment', '/* int wanted(int b) { } */\n// int wanted(int b) { }\n'],
  ['a string', 'const char *t = "int wanted(int b) { }";\n'],
  ['a definition without an end', 'int wanted(int b)\n{\n    if (b) {\n'],
])('findFunctions ignores %s', (_, source) => {
  expect(findFunctions(source, 'wanted')).toEqual([])
})

test('findFunctions ignores braces in strings, characters and comments', () => {
  const source = 'int wanted(void)\n{\n    char c = \'}\'; /* } */ const char *t = "}\\"}"; // }\n    return 0;\n}\n'
  expect(textOf(source, 'wanted')).toEqual([source.trimEnd()])
})

test('findFunctions returns both definitions of an #if', () => {
  const one = 'int wanted(void)\n{\n    return 0;\n}\n'
  expect(findFunctions(`#if A\n${one}#else\n${one}#endif\n`, 'wanted')).toHaveLength(2)
})

test('hashOfCode ignores blanks, comments and joined lines', () => {
  const hash = hashOfCode('int f(int a)\n{\n#if A\n    return a;\n#endif\n}\n')
  expect(hashOfCode('int f( int a ) {  // why\n# if A\n\n\treturn/* */a;\n#endif\n}')).toBe(hash)
  expect(hashOfCode('int f(int a)\n{\n#if A\n    return b;\n#endif\n}\n')).not.toBe(hash)
  // The end of a preprocessor line is significant.
  expect(hashOfCode('int f(int a)\n{\n#if A return a;\n#endif\n}\n')).not.toBe(hash)
  expect(hashOfCode('int f(int a)\n{\n#if \\\n A\n    return a;\n#endif\n}\n')).toBe(hash)
})
