// The deterministic simulation campaign: `npm run dst -- --seeds 10000`. Options stand below, in `usage`.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  formatCampaign,
  formatMinimised,
  makeScenario,
  minimise,
  runCampaign,
  runTwice,
  traceOf,
} from '../packages/nvme-sim/dist/dst/index.js'

const usage = `usage: npm run dst -- [--seeds N] [--first S] [--json] [--replay FILE]
  --seeds N      how many seeds, each run twice; 200 when not given
  --first S      the first of them; 1 when not given
  --json         what was found as JSON, without wall times: equal on every machine
  --replay FILE  runs the one scenario that a failed campaign has written, and prints its trace; no other option goes
                 with it`

/** Where a failing run is left, cut down, for --replay. */
const replayFile = (seed) => `dst-seed-${seed}.json`

function count(name, text, least) {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  return usageError(`--${name}: expected a whole number from ${least}, got ${text}`)
}

/** A mistake of whoever called: its text, and how it is done right. */
function usageError(message) {
  console.error(`${message}\n${usage}`)
  process.exit(2)
}

function readScenario(file) {
  let scenario
  try {
    scenario = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    usageError(`--replay ${file}: ${error.message}`)
  }
  const isScenario = Number.isSafeInteger(scenario?.seed) && Array.isArray(scenario.steps)
  return isScenario ? scenario : usageError(`--replay ${file}: not a scenario as a failed campaign writes it`)
}

async function replay(file) {
  const scenario = readScenario(file)
  const { failure } = await runTwice(scenario)
  console.log(await traceOf(scenario))
  console.log(failure ? `seed ${scenario.seed}: ${failure.message}` : `seed ${scenario.seed}: nothing fails`)
  return failure === undefined
}

async function campaign({ seeds = '200', first = '1', json = false }) {
  const startMs = performance.now()
  const result = await runCampaign({ seeds: count('seeds', seeds, 1), firstSeed: count('first', first, 0) })
  const failures = result.failures.map(({ seed, failure }) => ({ seed, failure: failure.message }))
  if (json) console.log(JSON.stringify({ ...result, failures }, null, 2))
  else {
    console.log(formatCampaign(result))
    console.log(`${((performance.now() - startMs) / 1000).toFixed(1)} s of wall time`)
  }
  for (const { seed, failure } of result.failures) console.error(`seed ${seed}: ${failure.message}`)
  const [worst] = result.failures
  const smallest = worst && (await minimise(makeScenario(worst.seed)))
  if (smallest) {
    console.error(await formatMinimised(smallest))
    writeFileSync(replayFile(worst.seed), JSON.stringify(smallest.scenario, null, 2))
    console.error(`again: npm run dst -- --replay ${replayFile(worst.seed)}`)
  }
  return result.failures.length === 0
}

// Without defaults, so that what was given is known.
const options = {
  seeds: { type: 'string' },
  first: { type: 'string' },
  json: { type: 'boolean' },
  replay: { type: 'string' },
  help: { type: 'boolean' },
}
function argumentsGiven() {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return usageError(error.message)
  }
}

const values = argumentsGiven()
const beside = Object.keys(values).filter((name) => name !== 'replay' && name !== 'help')
if (values.replay !== undefined && beside.length > 0) {
  usageError(`--replay runs one scenario, and takes no --${beside.join(', --')}`)
}
if (values.help) console.log(usage)
else process.exitCode = (await (values.replay !== undefined ? replay(values.replay) : campaign(values))) ? 0 : 1
