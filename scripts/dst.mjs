// Runs random workloads under random faults: `npm run dst -- --seeds 10000`. docs/evidence/dst.md describes the
// campaigns; options are in `usage` below.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as forDriver from '@gpunvme/host-driver/dst'
import * as forSimulator from '@gpunvme/nvme-sim/dst'

const usage = `usage: npm run dst -- [--seeds N] [--first S] [--only NAME] [--json]
       npm run dst -- --replay FILE
  --seeds N      number of seeds; 200 by default
  --first S      first seed; 1 by default
  --only NAME    one campaign: simulator (a raw host, which also violates the protocol) or driver
                 (host-driver on the simulator)
  --json         print results as JSON, without wall times: the same on every machine
  --replay FILE  run the scenario that a failed campaign wrote, and print its trace`

const { hostDriver } = forDriver

/** Operations of the campaigns. */
const campaigns = {
  simulator: {
    run: (seeds) => forSimulator.runCampaign(seeds),
    format: (result) => forSimulator.formatCampaign(result, forSimulator.uncoveredFeatures),
    minimise: (seed) => forSimulator.minimise(forSimulator.makeScenario(seed)),
    formatMinimised: (found) => forSimulator.formatMinimised(found),
    runTwice: (scenario) => forSimulator.runTwice(scenario),
    traceOf: (scenario) => forSimulator.traceOf(scenario),
  },
  driver: {
    run: (seeds) => forDriver.runDriverCampaign(hostDriver, seeds),
    format: (result) => forDriver.formatDriverCampaign(result),
    minimise: (seed) => forDriver.minimise(forDriver.makeScenario(seed), hostDriver),
    formatMinimised: (found) => forDriver.formatMinimised(found, hostDriver),
    runTwice: (scenario) => forDriver.runTwice(scenario, hostDriver),
    traceOf: (scenario) => forDriver.traceOf(scenario, hostDriver),
  },
}

/** Path of the minimised scenario of a failed seed, for --replay. */
const replayFile = (name, seed) => `dst-seed-${name}-${seed}.json`

function count(name, text, min) {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= min) return value
  return usageError(`--${name}: expected an integer of at least ${min}, got ${text}`)
}

/** Prints an error and the usage, and ends the process. */
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
  return isScenario ? scenario : usageError(`--replay ${file}: not a scenario that a campaign wrote`)
}

async function replay(file) {
  const scenario = readScenario(file)
  // Only scenarios of the driver have a boundary, at which faults are injected.
  const { runTwice, traceOf } = 'boundary' in scenario ? campaigns.driver : campaigns.simulator
  const { failure } = await runTwice(scenario)
  console.log(await traceOf(scenario))
  console.log(failure ? `seed ${scenario.seed}: ${failure.message}` : `seed ${scenario.seed}: no failure`)
  return failure === undefined
}

/** Runs one campaign. Minimises the first seed that fails, and writes its scenario to a file. */
async function campaign(name, seeds, isJson) {
  const { run, format, minimise, formatMinimised } = campaigns[name]
  const startMs = performance.now()
  const result = await run(seeds)
  if (!isJson) {
    console.log(`${name}: ${format(result)}`)
    console.log(`${((performance.now() - startMs) / 1000).toFixed(1)} s of wall time\n`)
  }
  for (const { seed, failure } of result.failures) console.error(`${name} seed ${seed}: ${failure.message}`)
  const [worst] = result.failures
  const smallest = worst && (await minimise(worst.seed))
  if (smallest) {
    console.error(await formatMinimised(smallest))
    writeFileSync(replayFile(name, worst.seed), JSON.stringify(smallest.scenario, null, 2))
    console.error(`to repeat it: npm run dst -- --replay ${replayFile(name, worst.seed)}`)
  }
  const failures = result.failures.map(({ seed, failure }) => ({ seed, failure: failure.message }))
  return { ...result, failures }
}

async function campaignsOf({ seeds = '200', first = '1', only, json = false }) {
  if (only !== undefined && !(only in campaigns)) usageError(`--only: expected simulator or driver, got ${only}`)
  const range = { seeds: count('seeds', seeds, 1), firstSeed: count('first', first, 0) }
  const results = {}
  for (const name of only === undefined ? Object.keys(campaigns) : [only]) {
    results[name] = await campaign(name, range, json)
  }
  if (json) console.log(JSON.stringify(results, null, 2))
  return Object.values(results).every(({ failures }) => failures.length === 0)
}

// Without defaults, so that options beside --replay are recognized.
const options = {
  seeds: { type: 'string' },
  first: { type: 'string' },
  only: { type: 'string' },
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
  usageError(`--replay and --${beside.join(', --')} are mutually exclusive`)
}
if (values.help) console.log(usage)
else process.exitCode = (await (values.replay !== undefined ? replay(values.replay) : campaignsOf(values))) ? 0 : 1
