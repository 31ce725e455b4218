import type { BenchCell, BenchLink, BenchResults, BenchSource } from '../report/bench-results.js'
import type { Output } from '../terminal/output.js'
import { wrap } from '../terminal/table.js'
import { CellTable, describeShape, legend } from './cell-table.js'
import type { Shape } from './shape.js'

/** Maximum line width, on any output. */
const MAX_WIDTH = 80

/** Reports a benchmark as it runs: progress, and the rows of each completed setting. */
export class BenchReporter {
  private readonly output: Output
  private readonly repeats: number
  private readonly sources: readonly BenchSource[]
  private readonly link: BenchLink | undefined
  private readonly table: CellTable
  private readonly withTable: boolean
  private readonly width: number
  private hasTitles = false

  constructor(
    output: Output,
    { repeats, markdown = false }: { readonly repeats: number; readonly markdown?: boolean | undefined },
    bench: Pick<BenchResults, 'sources' | 'time'> & { readonly link?: BenchLink | undefined },
  ) {
    this.output = output
    this.repeats = repeats
    this.withTable = !markdown
    this.sources = bench.sources
    this.link = bench.link
    this.width = Math.min(MAX_WIDTH, output.columns)
    this.table = new CellTable(bench, this.width)
  }

  readonly onTurn = (shape: Shape, name: string, repeat: number): void => {
    this.output.setStatus(`${describeShape(shape)}: ${name}, repeat ${repeat + 1} of ${this.repeats}`)
  }

  readonly onCells = (shape: Shape, cells: readonly BenchCell[]): void => {
    const { output, table } = this
    output.setStatus('')
    if (!this.withTable) return
    if (!this.hasTitles) output.print(table.titles)
    this.hasTitles = true
    output.print(table.rows(shape, cells))
  }

  /** Prints the legend, missing sources, and notes. */
  end(notes: readonly string[]): void {
    if (!this.withTable) return
    const missing = this.sources.flatMap(({ name, missing: why }) =>
      why === undefined
        ? []
        : [`Not measured: ${name}: ${why.reason}.${why.next === undefined ? '' : ` Try: ${why.next}`}`],
    )
    this.output.print('', legend(this.sources, this.link, this.width))
    this.output.print([...missing, ...notes].flatMap((line) => wrap(line, this.width, '  ')))
  }
}
