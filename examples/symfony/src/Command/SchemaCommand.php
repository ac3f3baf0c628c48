<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Command;

use ReconBatch\Messenger\Register\Schema;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class SchemaCommand extends Command
{
    public function __construct(private readonly \PDO $db)
    {
        parent::__construct('recon:schema');
    }

    protected function configure(): void
    {
        $this->setDescription('Prints the tables of the operation register, or makes them');
        $this->addOption('create', null, InputOption::VALUE_NONE, 'Make them in the database; what is there stays');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        if ($input->getOption('create')) {
            Schema::create($this->db);

            return Command::SUCCESS;
        }
        foreach (Schema::statements() as $sql) {
            $output->writeln($sql.';', OutputInterface::OUTPUT_RAW);
        }

        return Command::SUCCESS;
    }
}
