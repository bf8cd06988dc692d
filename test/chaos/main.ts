import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { runChaos, type Trouble } from './chaos.ts'
import { canFillDisk } from './shaken.ts'

/**
 * `npm run chaos -- --seed 1 --rounds 50 [--troubles 'kill,full disk,clock jump']`: exits 1 if anything happened that should not have.
 */
const { values } = optionsOf({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    rounds: { type: 'string', default: '50' },
    applies: { type: 'string', default: '200' },
    troubles: { type: 'string', default: [...(canFillDisk() ? ['full disk'] : []), 'kill', 'clock jump'].join(',') },
  },
})
const seed = wholeNumber('--seed', values.seed)
const rounds = wholeNumber('--rounds', values.rounds, 1)
const appliesMin = wholeNumber('--applies', values.applies)

console.log(
  `npm run chaos -- --seed ${seed} --rounds ${rounds} --applies ${appliesMin} --troubles '${values.troubles}'`,
)
const { faults, ...counts } = await runChaos({
  seed,
  rounds,
  appliesMin,
  troubles: values.troubles.split(',') as readonly Trouble[],
})
console.log(JSON.stringify(counts))
for (const fault of faults) console.error(fault)
console.log(faults.length === 0 ? 'nothing was lost, nothing ran twice at once' : `${faults.length} faults`)
process.exit(faults.length === 0 ? 0 : 1)
