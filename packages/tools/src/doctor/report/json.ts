import type { Invocation } from '../../terminal/invocation.js'
import { renderStep } from '../../command-line/next-step.js'
import { isKnown, valueOf } from '../../machine/known.js'
import { answerOf, type Answer } from './answer.js'
import type { Diagnosis } from './examine.js'
import type { Finding, Step } from '../finding.js'
import type { Pair, Verdict } from './judge.js'
import { ROUTES } from '../route.js'

/** Returns the diagnosis for programs: the output of `gpunvme doctor --json` except its schema. */
export function diagnosisJson(diagnosis: Diagnosis, invocation: Invocation) {
  const { facts, findings, pairs, reach } = diagnosis
  const { machine } = facts
  const running = valueOf(facts.nvidia.running)
  const answer = answerOf(diagnosis)
  return {
    root: machine.root,
    works: answer.works,
    verdict: answer.verdict,
    steps: answer.steps.map(keyOf),
    expected: expectedJson(answer),
    next: stepJson(answer.next, invocation),
    system: {
      board: machine.board.name ?? machine.board.systemName ?? null,
      boardVendor: machine.board.vendor ?? machine.board.systemVendor ?? null,
      cpu: valueOf(machine.cpu.model) ?? null,
      kernel: valueOf(machine.kernel.release) ?? null,
      distribution: valueOf(machine.distribution)?.name ?? null,
      nvidia: running === undefined ? null : (valueOf(running.version) ?? null),
      nvidiaFlavour: running === undefined ? null : (valueOf(running.flavour) ?? null),
      iommu: machine.iommu.mode,
    },
    findings: findings.map((each) => ({
      key: keyOf(each),
      ...each,
      steps: each.steps.map((step) => stepJson(step, invocation)),
    })),
    pairs: pairs.map(pairJson),
    reach: typeof reach === 'string' ? reach : 'hardware',
    best: typeof reach === 'string' ? null : bestJson(reach),
  }
}

function expectedJson({ expected }: Answer) {
  if (expected === undefined || !isKnown(expected)) return null
  const { bytesPerSecond, rateFrom, isMemoryUnknown, tokens, assumed } = expected
  return {
    ...{ bytesPerSecond, rateFrom, isMemoryUnknown, assumed },
    // Without the quantisations whose buffers do not fit.
    tokens: tokens.filter(({ seconds }) => seconds !== undefined),
  }
}

function stepJson({ kind, action }: Step, invocation: Invocation) {
  return { kind, text: renderStep(action, invocation) }
}

/** Returns a key that is unique among findings: an ID and its subjects. */
function keyOf({ id, subjects }: Finding): string {
  return [id, ...subjects].join(' ')
}

function pairJson({ drive, gpu, verdicts, best }: Pair) {
  return { drive, gpu: gpu ?? null, best: best?.route ?? null, routes: verdicts.map(verdictJson) }
}

function verdictJson({ route, readiness, met, unmet, unknown }: Verdict) {
  const { tier, title } = ROUTES[route]
  return { route, tier, title, readiness, met: met.map(keyOf), unmet: unmet.map(keyOf), unknown: unknown.map(keyOf) }
}

function bestJson({ drive, gpu, best }: Pair) {
  return { drive, gpu: gpu ?? null, route: best!.route, tier: ROUTES[best!.route].tier, readiness: best!.readiness }
}
