import { describe } from 'vitest'
import { describeCompilation } from './toolkit-cases.js'
import { compiledByDefault, hasToolkit, skippedWithoutToolkit, targets } from './toolkit.js'

describe.skipIf(!hasToolkit)(`with CUDA's compiler${skippedWithoutToolkit}`, () => {
  describeCompilation(targets.filter((target) => !compiledByDefault.includes(target)))
})
