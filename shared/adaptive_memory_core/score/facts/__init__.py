"""Which of the candidates say the same of the same subject, so that one of them is the newest version?"""
