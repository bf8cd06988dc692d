import type { Judgement } from './judge.ts'
import type { Mutant } from './find-mutants.ts'
import { roomOf } from './room.ts'
import type { KnownSurvivor } from './survivors.ts'

export interface Judged {
  readonly mutant: Mutant
  readonly judgement: Judgement
}

/** What a run of mutants found, for people. */
export interface MutantRun {
  readonly command: string
  readonly commit: string
  readonly day: string
  /** How many there are to be drawn from. */
  readonly all: number
  readonly judged: readonly Judged[]
  readonly known: readonly KnownSurvivor[]
}

/** As Markdown: the command, the commit, the counts by folder, and who survived. */
export function reportOf({ command, commit, day, all, judged, known }: MutantRun): string {
  const rooms = Map.groupBy(judged, ({ mutant }) => roomOf(mutant.path))
  const rows = [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([room, some]) => row(room, some))
  const survivors = judged.filter((one) => !isKilled(one))
  return [
    `# Mutants\n`,
    `\`${command}\` at ${commit}, ${day}: ${judged.length} of ${all} mutants.\n`,
    `| room | mutants | killed | survived |\n| --- | --- | --- | --- |`,
    [...rows, row('all', judged)].join('\n'),
    `\n## Survivors\n`,
    survivors.length === 0 ? 'None.' : survivors.map(({ mutant }) => `- ${describeMutant(mutant)}`).join('\n'),
    `\n## Known to be equal\n`,
    known
      .map(({ path, line, replacement, why }) => `- \`${path}\`: \`${line}\` with \`${replacement}\`: ${why}`)
      .join('\n'),
    '',
  ].join('\n')
}

/** A run that takes too long was brought to stand still by the mutant, and somebody notices that. */
export function isKilled({ judgement }: Judged): boolean {
  return judgement === 'killed' || judgement === 'timed out'
}

export function describeMutant({ path, line, original, replacement }: Mutant): string {
  const [from, to] = [original, replacement].map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 60))
  return `${path}:${line}  ${from}  →  ${to}`
}

function row(name: string, some: readonly Judged[]): string {
  const survived = some.filter((one) => !isKilled(one)).length
  return `| ${name} | ${some.length} | ${some.length - survived} | ${survived} |`
}
