import { App } from 'aws-cdk-lib';
import { BankStack } from '../lib/bank-stack.js';

new BankStack(new App(), 'Bank');
