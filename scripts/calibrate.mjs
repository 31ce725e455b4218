// Compares the simulator's presets with published figures of their drives, in virtual time, and prints both. --json
// prints one object instead; --write also updates the tables in docs/evidence/calibration.md, between its markers.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calibrate, renderCalibration } from '../packages/nvme-sim/dist/calibration/index.js'

const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => !['--json', '--write'].includes(flag))
if (unknown.length > 0) {
  console.error(`calibrate: unknown option ${unknown.join(' ')}; expected --json or --write`)
  process.exit(2)
}

const report = await calibrate()
if (flags.includes('--json')) console.log(JSON.stringify(report, null, 2))
else console.log(renderCalibration(report))

if (flags.includes('--write')) {
  const path = join(import.meta.dirname, '..', 'docs', 'evidence', 'calibration.md')
  const marked = /(<!-- calibration -->\n)[\s\S]*?(<!-- \/calibration -->)/
  const page = readFileSync(path, 'utf8')
  if (!marked.test(page)) throw new Error('docs/evidence/calibration.md has no <!-- calibration --> markers')
  writeFileSync(
    path,
    page.replace(marked, (_, from, to) => `${from}${renderCalibration(report)}\n${to}`),
  )
}

const missed = report.checks.filter(({ met }) => !met)
for (const { what, expected } of missed) console.error(`check missed: ${what} (${expected})`)
process.exitCode = missed.length > 0 ? 1 : 0
