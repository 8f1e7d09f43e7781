# D1: a terminal behaves as without sbox. Each conversation is an expect script.
load ../helpers/common

# talk: the script on stdin, after a few words of its own:
#   want RE     the terminal shows it, or the test fails
#   over N      the program ends with status N
talk()
{
    {
        cat <<'TCL'
set timeout 20
set sbox $env(SBOX)
set stty_init "rows 24 columns 80"
proc want {re} {
    expect {
        -re $re {}
        timeout { puts "\n-- never came: $re"; exit 97 }
        eof { puts "\n-- ended before: $re"; exit 98 }
    }
}
proc over {status} {
    expect { eof {} timeout { puts "\n-- did not end"; exit 97 } }
    set result [wait]
    if {[lindex $result 3] != $status} { puts "\n-- ended with $result, not $status"; exit 96 }
}
TCL
        cat
    } >"$T/talk"
    ENV+=(SBOX="$SBOX" TERM=xterm PS1='$ ' PROMPT_COMMAND=)
    run bare timeout 60 expect -f "$T/talk"
    assert_status 0
}

@test "D1: a change of the window's size arrives" {
    talk <<'TCL'
spawn $sbox run bash --norc -c {trap 'stty size' WINCH; echo ready; for i in $(seq 100); do sleep 0.1; done}
want ready
stty rows 41 columns 123 < $spawn_out(slave,name)
want {41 123}
send \003
expect eof
TCL
}

@test "D1: Ctrl-C ends the command, with the status of a signal" {
    talk <<'TCL'
spawn $sbox run sh -c {echo ready; sleep 60}
want ready
# dash catches SIGINT and does not look again before it has started sleep: let it get there
after 500
send \003
over 130
TCL
    assert_no_process "$SBOX run sh -c echo ready"
}

@test "D1: a command that handles Ctrl-C decides when it ends: once, and twice" {
    talk <<'TCL'
spawn $sbox run bash --norc -c {n=0; trap 'n=$((n+1)); echo caught $n; if [ $n = 2 ]; then exit 7; fi' INT; echo ready; while :; do sleep 0.2; done}
want ready
send \003
want {caught 1}
sleep 0.3
send \003
want {caught 2}
over 7
TCL
}

@test "D1: Ctrl-C in a REPL comes back to its prompt" {
    talk <<'TCL'
spawn $sbox run /usr/bin/python3 -q
want {>>> }
send "import time; print('as' + 'leep'); time.sleep(60)\r"
want asleep
after 300
send \003
want KeyboardInterrupt
want {>>> }
send "print(6*7)\r"
want 42
# a ^D typed before readline is back in raw mode becomes a NUL (the terminal's own doing)
want {>>> }
after 100
send \004
over 0
TCL
}

@test "D1: Ctrl-Z stops the job, fg goes on with it" {
    talk <<'TCL'
spawn bash --norc -i
want {\$ }
send "$sbox run sh -c 'echo re\"\"ady; read line; echo got \$line'\r"
want ready
send \032
want Stopped
send "echo in the sh\"\"ell\r"
want {in the shell}
send "fg\r"
want {sbox}
send "hello\r"
want {got hello}
send "exit 0\r"
over 0
TCL
}

@test "D1: a background job of the shell, brought to the front" {
    talk <<'TCL'
spawn bash --norc -i
want {\$ }
send "$sbox run sh -c 'sleep 1; echo do\"\"ne; read x; echo \"<\$x>\"' &\r"
want done
send "fg\r"
want {sbox}
send "hi\r"
want {<hi>}
send "exit 0\r"
over 0
TCL
}

@test "D1: vim edits a file" {
    talk <<'TCL'
spawn $sbox run vim -u NONE -i NONE -n file.txt
want {file.txt}
send "ihello from vim\033:wq\r"
over 0
TCL
    assert_equal "$(cat file.txt)" 'hello from vim'
}

@test "D1: less pages, searches and quits" {
    seq 500 >numbers
    talk <<'TCL'
spawn $sbox run less numbers
want {23}
send " "
want {46}
send "/^400\r"
want {400}
send q
over 0
TCL
}

@test "D1: a pager at the end of a pipe" {
    talk <<'TCL'
spawn $sbox run sh -c {seq 500 | less}
want {23}
send G
want {500}
send q
over 0
spawn bash --norc -c "$sbox run seq 500 | less"
want {23}
send G
want {500}
send q
over 0
TCL
}

@test "D1: bash -i inside has job control" {
    talk <<'TCL'
spawn $sbox run bash --norc -i
want {\$ }
send "echo no\"\"-job-control-message; jobs\r"
want {no-job-control-message}
send "sleep 60\r"
sleep 0.3
send \032
want Stopped
send "jobs\r"
want {Stopped +sleep 60}
send "kill %1; exit 5\r"
expect {
    -re {There are stopped jobs} { send "exit 5\r"; exp_continue }
    eof {}
    timeout { exit 97 }
}
set result [wait]
if {[lindex $result 3] != 5} { puts "ended with $result"; exit 96 }
TCL
    refute_output_has 'no job control'
}

# The kernel tells the leader of the session only: sbox, where a terminal emulator or ssh runs it.
@test "D1: a terminal that is closed ends the command" {
    talk <<'TCL'
spawn $sbox run sh -c {echo ready; exec sleep 86433}
want ready
after 300
close
wait
TCL
    wait_for 10 gone 'sleep 86433'
}

gone()
{
    ! pgrep -f -- "$1" >/dev/null
}
