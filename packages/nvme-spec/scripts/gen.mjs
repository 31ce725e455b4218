// Generates the files that derive from the declarations: the C header, its check program, and the map from the
// specification to the tests. Writes them below the repository's root, or below the given folder.
//
//   node scripts/gen.mjs [--check] [FOLDER]
//
// --check writes nothing, and fails if a file differs. In both modes, a declaration that is in no list or that no test
// names is an error.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { writeCheckProgram } from './check-program.mjs'
import { writeHeader } from './header.mjs'
import { packageRoot, unlisted } from './items.mjs'
import { writeSpecMap } from './spec-map.mjs'

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true })
const root = positionals[0] ?? join(packageRoot, '..', '..')

const { header, ...out } = writeHeader()
const { text, untested } = writeSpecMap()
const files = {
  [join(root, 'packages/nvme-spec/include/gpunvme/nvme_spec.h')]: header,
  [join(root, 'packages/nvme-spec/include/gpunvme/nvme_spec_check.c')]: writeCheckProgram(out),
  [join(root, 'docs/reference/spec-map.md')]: text,
}

const problems = [
  ...unlisted.map(
    (item) => `${item}: missing from the lists of src/all.ts and from the registers of src/registers.ts; add it`,
  ),
  ...untested.map((item) => `${item}: no test names it`),
]
for (const [file, content] of Object.entries(files)) {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) continue
  if (values.check)
    problems.push(`${relative(root, file)} differs from the declarations; run: pnpm gen (or npm run gen)`)
  else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    console.log(`wrote ${relative(root, file)}`)
  }
}
for (const problem of problems) console.error(`gen: ${problem}`)
process.exitCode = problems.length === 0 ? 0 : 1
