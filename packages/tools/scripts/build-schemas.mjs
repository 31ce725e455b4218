// Writes schemas/NAME.json: the JSON Schema of each result that a verb prints with --json, from the types of the values
// that the source passes to Output.
//
//   node scripts/build-schemas.mjs [--check]
//
// --check writes nothing, and exits with status 1 if a file differs from the source.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { formatText } from '../../../scripts/format.mjs'
import { Schemas } from './schema-of-type.mjs'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'schemas')

/** Methods of Output that print a result, and whether the result may name a drive. */
const METHODS = { object: false, record: false, driveObject: true, driveRecord: true }

const files = await schemaFiles()
if (process.argv.includes('--check')) check()
else write()

async function schemaFiles() {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root)
  const program = ts.createProgram(
    parsed.fileNames.filter((name) => !name.endsWith('.test.ts')),
    parsed.options,
  )
  const schemas = new Schemas(program.getTypeChecker())
  const found = new Map()
  for (const { name, value, namesDrive } of calls(program)) {
    const schema = schemas.of(value, namesDrive && schemas.of(driveFacts(program)))
    found.set(name, found.has(name) ? schemas.merge(found.get(name), schema) : schema)
  }
  const texts = new Map()
  for (const [name, schema] of [...found].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { properties, required = [], ...rest } = schema
    const whole = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: name,
      ...rest,
      properties: { schema: { const: name }, ...properties },
      required: ['schema', ...required],
    }
    const file = `${name.replace(/^gpunvme\./, '').replace('/', '-')}.json`
    texts.set(file, await formatText(file, JSON.stringify(whole)))
  }
  return texts
}

/** Yields each call that prints a result: the name of its schema, and the type of the value. */
function* calls(program) {
  const checker = program.getTypeChecker()
  for (const file of program.getSourceFiles()) {
    if (file.isDeclarationFile || !file.fileName.startsWith(join(root, 'src/'))) continue
    if (file.fileName.endsWith('/terminal/output.ts')) continue
    const nodes = [file]
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      ts.forEachChild(node, (child) => void nodes.push(child))
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) continue
      const method = node.expression.name.text
      if (!Object.hasOwn(METHODS, method)) continue
      const receiver = checker.getTypeAtLocation(node.expression.expression)
      if (receiver.symbol?.name !== 'Output') continue
      const [name, value] = node.arguments
      const type = checker.getTypeAtLocation(name)
      if (!type.isStringLiteral()) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart())
        throw new Error(`${relative(root, file.fileName)}:${line + 1}: the name of the schema is not a string literal`)
      }
      yield { name: type.value, value: checker.getTypeAtLocation(value), namesDrive: METHODS[method] }
    }
  }
}

/** Returns the type of the facts in a `NamedDrive`. */
function driveFacts(program) {
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(join(root, 'src/drive/named-drive.ts'))
  const symbol = checker.getExportsOfModule(checker.getSymbolAtLocation(file)).find(({ name }) => name === 'DriveFacts')
  return checker.getDeclaredTypeOfSymbol(symbol)
}

function check() {
  const stale = [...files].filter(([name, text]) => read(name) !== text).map(([name]) => name)
  const surplus = present().filter((name) => !files.has(name))
  if (stale.length + surplus.length === 0) return
  console.error(`schemas: out of date: ${[...stale, ...surplus].join(', ')}`)
  console.error('  Try: node packages/tools/scripts/build-schemas.mjs')
  process.exitCode = 1
}

function write() {
  mkdirSync(folder, { recursive: true })
  for (const name of present()) if (!files.has(name)) rmSync(join(folder, name))
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
}

function present() {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

function read(name) {
  return present().includes(name) ? readFileSync(join(folder, name), 'utf8') : undefined
}
