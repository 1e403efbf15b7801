// Runs in each worker before a test file is imported, so that its clients find MiniStack.
import { inject } from 'vitest';
import type {} from './server.js';

const ministack = inject('ministack');
if ('endpoint' in ministack) process.env['DYNAMODB_ENDPOINT'] = ministack.endpoint;
