import { describe, expect, it } from 'vitest'
import { toWriteFailure } from './cache-folder.ts'

describe('toWriteFailure', () => {
  it('names the folder that is full or belongs to another user, and leaves other errors as they are', () => {
    const fail = (code: string): unknown =>
      toWriteFailure(Object.assign(new Error(`${code}: of the system`), { code }), '/home/me/.local', 'starting')
    const found = (code: string, text: string): object => ({
      findings: [{ code, message: expect.stringContaining(text) }],
    })
    expect(fail('ENOSPC')).toMatchObject(found('SL1206', 'no space left in /home/me/.local while starting'))
    expect(fail('EACCES')).toMatchObject(found('SL1003', 'cannot write /home/me/.local: EACCES'))
    expect(fail('EROFS')).toMatchObject(found('SL1003', 'cannot write /home/me/.local'))
    expect(fail('EMFILE')).not.toHaveProperty('findings')
  })
})
