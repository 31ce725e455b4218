import { randomStream, type Random } from '@gpunvme/nvme-spec/faults'

/** Random choices from one named stream of a seed. */
export class Dice {
  private readonly random: Random

  constructor(seed: number, name: string) {
    this.random = randomStream(seed, name)
  }

  /** Returns a whole number from `min` to `max`, inclusive. */
  int(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1))
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.random() < probability
  }

  /** Returns one of the choices, all equally probable. */
  pick<T>(choices: readonly T[]): T {
    return choices[this.int(0, choices.length - 1)]!
  }

  /** Returns one of the choices, with probabilities by weight. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.random() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) if ((left -= weight) < 0) return choice
    return choices.at(-1)![1]
  }
}
