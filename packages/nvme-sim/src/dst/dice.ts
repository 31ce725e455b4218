import { randomStream, type Random } from '@gpunvme/nvme-spec/faults'

/** Choices from one named stream of a seed. */
export class Dice {
  private readonly random: Random

  constructor(seed: number, name: string) {
    this.random = randomStream(seed, name)
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.random() < probability
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.int(0, choices.length - 1)]!
  }

  /** One of the choices, each as often as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.random() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) if ((left -= weight) < 0) return choice
    return choices.at(-1)![1]
  }
}
