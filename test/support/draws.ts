import fc from 'fast-check'
import { drawSeed } from './strength.ts'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: drawSeed })
