import type { Controller } from 'setpoint'
import { greetings } from '../greeting/greeting.ts'
import { pages } from './page.ts'

/** In the place of a web server: everything is published at once. */
const site = { publish: async () => 'published' as const, remove: async () => {} }

export const reconcilers: readonly Controller[] = [greetings, pages(site)]
