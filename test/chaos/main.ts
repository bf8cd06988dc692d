import { optionsOf, refuse, wholeNumber } from '../support/command-line.ts'
import { runChaos, type Trouble } from './chaos.ts'
import { runDatabaseChaos } from './databases.ts'
import { canFillDisk } from './shaken.ts'

/**
 * `npm run chaos -- --seed 1 --rounds 50 [--troubles 'kill,full disk,clock jump']`: exits 1 if anything happened that
 * should not have. `--informers`: ten clients keep caches of what is written, which must be right in the end though
 * they are cut off again and again. `--databases`: kills in place of that what examples/orders.yaml is applied to, now
 * and then with its server.
 */
const { values } = optionsOf('npm run chaos --', {
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    rounds: { type: 'string', default: '50' },
    databases: { type: 'boolean', default: false },
    informers: { type: 'boolean', default: false },
    applies: { type: 'string', default: '200' },
    troubles: { type: 'string', default: [...(canFillDisk() ? ['full disk'] : []), 'kill', 'clock jump'].join(',') },
  },
})
const seed = wholeNumber('--seed', values.seed)
const rounds = wholeNumber('--rounds', values.rounds, 1)
const troubles = values.troubles.split(',').map((text) => troubleOf(text.trim()))
const appliesMin = wholeNumber('--applies', values.applies)

function troubleOf(text: string): Trouble {
  const known: readonly Trouble[] = ['kill', 'full disk', 'clock jump']
  return known.find((one) => one === text) ?? refuse(`--troubles: "${text}" is none of ${known.join(', ')}`)
}

const informers = values.informers ? ' --informers' : ''
const line = values.databases ? '--databases' : `--applies ${appliesMin} --troubles '${values.troubles}'${informers}`
console.log(`npm run chaos -- --seed ${seed} --rounds ${rounds} ${line}`)
const { faults, ...counts } = values.databases
  ? await runDatabaseChaos(seed, rounds)
  : await runChaos({ seed, rounds, appliesMin, troubles, informers: values.informers ? 10 : 0 })
console.log(JSON.stringify(counts))
for (const fault of faults) console.error(fault)
console.log(faults.length === 0 ? 'nothing was lost, nothing ran twice at once' : `${faults.length} faults`)
process.exit(faults.length === 0 ? 0 : 1)
