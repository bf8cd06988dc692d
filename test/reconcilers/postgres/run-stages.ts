/** Runs every stage of the server in the directory given, and stays: the test kills it, then or before. */
import { join } from 'node:path'
import { prepareHost } from '../../../functions/reconcilers/postgres/server/host.ts'
import { asRoot, bringUp, deadline } from './temporary-server.ts'

const [directory = '', name = ''] = process.argv.slice(2)
const host = await prepareHost({ refuge: asRoot ? join(directory, 'refuge') : undefined }, deadline())
const { port } = await bringUp({ host, directory: join(directory, name) })
console.log(port)
setInterval(() => {}, 60_000)
